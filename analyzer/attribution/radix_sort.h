#pragma once

#include <cstdint>
#include <vector>

namespace ddbench::analyzer {

/// Sorts by the bits from `low_bit` upwards; the order of boundaries with equal bits is unspecified.
/// `largest` must not be smaller than any element.
void sort_boundaries(std::vector<std::uint64_t>& boundaries, unsigned low_bit, std::uint64_t largest);

}  // namespace ddbench::analyzer
