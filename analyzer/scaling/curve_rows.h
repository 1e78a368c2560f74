#pragma once

#include <vector>

#include "analyzer/run/case_figures.h"
#include "analyzer/scaling/scaling_curve.h"

namespace ddbench::analyzer {

/// All runs of one size, summarised, oldest first. A lone usable run has its intervals.
struct SizeGroup {
  std::vector<RunSummary> usable;      ///< done, valid and with figures
  std::vector<store::RunRecord> runs;  ///< all of them
  const RunCase& run_case() const { return runs.front().run_case; }
};

/// By world size, then nodes. Runs without figures are named in `notes`.
std::vector<SizeGroup> group_by_size(const store::RunStore& store, std::span<const store::RunRecord> runs,
                                     std::vector<std::string>& notes);

/// The figures of the runs of one size that need no baseline. `figures`: case_figures(group.usable).
CurveRow curve_row(const store::RunStore& store, const CaseFigures& figures, const SizeGroup& group, const SkuCatalogue& catalogue);

/// Adds the figures that need the baseline. Throws Error{kBadInput} where efficiency_against() gives none.
void state_against(const CaseFigures& baseline, const CaseFigures& figures, CurveRow& row);

}  // namespace ddbench::analyzer
