#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/span.h"

namespace ddbench::reports::chakra {

/// For each span, which of those before it had to end first, by their places (export_chakra says which). `spans` ascend by
/// their begin. O(n log n).
std::vector<std::vector<std::size_t>> dependencies(std::span<const Span> spans);

}  // namespace ddbench::reports::chakra
