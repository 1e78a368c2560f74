#pragma once

#include <chrono>

namespace ddbench::test {

/// For waits that end by themselves: only a test that hangs reaches it, on however busy a machine.
inline constexpr std::chrono::minutes kHangs{10};

}  // namespace ddbench::test
