#pragma once

#include <string_view>

namespace ddbench::analyzer {

/// data/skus.toml, put into the program when it was built.
std::string_view builtin_skus() noexcept;

}  // namespace ddbench::analyzer
