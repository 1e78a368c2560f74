#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/store/rows/run_store.h"

namespace ddbench::analyzer {

/// Compute of one operator or kernel, a step and rank.
struct OperatorChange {
  std::string name;
  double share = 0;   ///< share of the increase of all operators
  double slower = 0;  ///< 0.5: it takes 50% longer; 0: it did not run before
  double excess_ns = 0;
  double others_slower = 0;  ///< all others together: 0.1 is 10% longer
};

/// Some steps of a run whose spans are stored.
struct StepsOfRun {
  store::RunId run;
  std::vector<int> ranks;
  std::vector<std::uint32_t> steps;
};

/// The operator with the largest part of the increase in compute from `before` to `after`, from stored spans,
/// which are read one step at a time. Nothing if no operator takes longer, or if spans are not stored or were
/// reduced.
std::optional<OperatorChange> find_operator_change(const store::RunStore& store, const StepsOfRun& before, const StepsOfRun& after);

}  // namespace ddbench::analyzer
