#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/run_case/case_diff.h"
#include "core/run_case/records.h"

namespace ddbench::analyzer {

/// Whether two sides of a comparison differ only in what is compared.
struct Comparability {
  std::vector<FieldDifference> differences;  ///< that forbid the comparison
  std::vector<FieldDifference> compared;     ///< differences that were announced, and their consequences
  /// Empty when the sides are comparable; else a sentence a difference, naming field, values and runs.
  std::vector<std::string> reasons;
};

/// `varied`: fields that are meant to differ (run_fields' names; "workload_options" stands for all of its
/// keys). A consequence (case_diff) neither forbids a comparison nor needs to be announced: the network
/// follows from the link. Runs of one side must agree with each other in everything. Neither side may be
/// empty.
Comparability compare_sides(std::span<const store::RunRecord> baseline,
                            std::span<const store::RunRecord> candidate, const std::set<std::string>& varied);

/// Throws Error{kBadInput} listing the allowed fields when one of `varied` is not a field that defines a run.
void check_varied_fields(const std::set<std::string>& varied);

}  // namespace ddbench::analyzer
