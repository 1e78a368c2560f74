#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/run_case/records.h"

namespace ddbench::analyzer {

/// A field in which runs differ that should be alike, with both values and one run of each.
struct FieldDifference {
  std::string field;  ///< "nodes", "workload_options.hidden", "fingerprint", "network", ...
  std::string baseline;
  std::string candidate;
  store::RunId baseline_run;
  store::RunId candidate_run;
};

/// Whether two sides of a comparison differ in nothing but what is compared.
struct Comparability {
  std::vector<FieldDifference> differences;  ///< that forbid the comparison
  std::vector<FieldDifference> compared;     ///< that were announced: they are what is compared
  /// Empty when the sides are comparable; else a sentence a difference, naming field, values and runs.
  std::vector<std::string> reasons;
};

/// `varied`: fields that are meant to differ (run_fields' names; "workload_options" stands for all of its
/// keys). What follows from a varied field may differ with it: the network from the link or the nodes, the
/// provenance from the world. Runs of one side must agree among themselves in everything. Both sides must not
/// be empty.
Comparability compare_sides(std::span<const store::RunRecord> baseline,
                            std::span<const store::RunRecord> candidate, const std::set<std::string>& varied);

/// The fields of the case in which two cases differ: what `gate --run` compares.
std::set<std::string> differing_fields(const RunCase& a, const RunCase& b);

/// Throws Error{kBadInput} with what is allowed when one of `varied` is no field that defines a run.
void check_varied_fields(const std::set<std::string>& varied);

}  // namespace ddbench::analyzer
