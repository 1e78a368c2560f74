#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/span.h"

namespace ddbench::reports::chakra {

/// For each span, the indices of the earlier spans that had to end first (rules: see export_chakra). `spans`
/// must ascend by begin. O(n log n).
std::vector<std::vector<std::size_t>> dependencies(std::span<const Span> spans);

}  // namespace ddbench::reports::chakra
