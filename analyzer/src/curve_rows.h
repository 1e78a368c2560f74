#pragma once

#include <vector>

#include "ddbench/analyzer/scaling_curve.h"

namespace ddbench::analyzer {

/// All runs of one size, summarised, oldest first.
struct SizeGroup {
  std::vector<RunSummary> usable;      ///< done, valid and with figures
  std::vector<store::RunRecord> runs;  ///< all of them
  const RunCase& run_case() const { return runs.front().run_case; }
};

/// By world size, then nodes. Runs without figures are named in `notes`.
std::vector<SizeGroup> group_by_size(const store::RunStore& store, std::span<const store::RunRecord> runs,
                                     std::vector<std::string>& notes);

/// What the runs of one size tell without a baseline. `store` is asked for the steps of a lone run.
CurveRow curve_row(const store::RunStore& store, const SizeGroup& group, const SkuCatalogue& catalogue);

/// What follows from the baseline.
struct CurveBaseline {
  int gpus = 1;
  std::vector<double> run_samples_per_s;
  double samples_per_s = 0;
  Measured<store::StepPartition> partition = Measured<store::StepPartition>::missing("no partition");
};
void state_against(const CurveBaseline& baseline, const SizeGroup& group, CurveRow& row);

/// Mean partition over runs with probed steps; missing without.
Measured<store::StepPartition> mean_partition(const std::vector<RunSummary>& runs);

}  // namespace ddbench::analyzer
