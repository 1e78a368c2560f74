#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/store/rows/run_store.h"

namespace ddbench::analyzer {

struct SlowOperator {
  std::string name;
  double share = 0;   ///< of what these ranks compute longer than the others, in the steps that were looked at
  double slower = 0;  ///< 0.5: it takes 50% longer than on the others; 0: the others do not run it
  std::size_t steps = 0;
};

/// The operator or kernel that takes most of what `ranks` compute longer than the median of the other ranks, from the stored
/// spans of `steps` (few: they are read one by one). Nothing where one operator has less than half of it, or spans are not
/// stored or stand for others.
std::optional<SlowOperator> find_slow_operator(const store::RunStore& store, const store::RunId& run,
                                               std::span<const int> ranks, std::span<const int> others,
                                               std::span<const std::uint32_t> steps);

}  // namespace ddbench::analyzer
