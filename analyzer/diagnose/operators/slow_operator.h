#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/store/rows/run_store.h"

namespace ddbench::analyzer {

struct SlowOperator {
  std::string name;
  double share = 0;   ///< share of these ranks' excess compute over the others, in the examined steps
  double slower = 0;  ///< 0.5: it takes 50% longer than on the others; 0: the others do not run it
  std::size_t steps = 0;
};

/// The operator or kernel with the largest part of the excess compute of `ranks` over the median of the other
/// ranks, from the stored spans of `steps` (few: they are read one by one). Nothing if no operator has half
/// of it, or if spans are not stored or were reduced.
std::optional<SlowOperator> find_slow_operator(const store::RunStore& store, const store::RunId& run,
                                               std::span<const int> ranks, std::span<const int> others,
                                               std::span<const std::uint32_t> steps);

}  // namespace ddbench::analyzer
