#pragma once

#include <cstdint>

namespace ddbench::testing {

/// Calls of operator new by this thread since it started. Link allocation_counter.cpp, which replaces
/// operator new and delete for the whole program.
std::uint64_t allocations_of_this_thread() noexcept;

}  // namespace ddbench::testing
