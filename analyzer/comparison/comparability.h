#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/run_case/case_diff.h"
#include "core/run_case/records.h"

namespace ddbench::analyzer {

/// Whether two sides of a comparison differ in nothing but what is compared.
struct Comparability {
  std::vector<FieldDifference> differences;  ///< that forbid the comparison
  std::vector<FieldDifference> compared;     ///< that were announced, and what follows from differences
  /// Empty when the sides are comparable; else a sentence a difference, naming field, values and runs.
  std::vector<std::string> reasons;
};

/// `varied`: fields that are meant to differ (run_fields' names; "workload_options" stands for all of its
/// keys). A consequence (case_diff) neither forbids a comparison nor must it be announced: the network
/// follows from the link. Runs of one side must agree among themselves in everything. Both sides must not be
/// empty.
Comparability compare_sides(std::span<const store::RunRecord> baseline,
                            std::span<const store::RunRecord> candidate, const std::set<std::string>& varied);

/// Throws Error{kBadInput} with what is allowed when one of `varied` is no field that defines a run.
void check_varied_fields(const std::set<std::string>& varied);

}  // namespace ddbench::analyzer
