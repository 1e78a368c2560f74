#pragma once

#include <string>

#include "ddbench/analyzer/run_summary.h"

namespace ddbench::analyzer {

/// Missing, with the reason, when either run gives no figure or the two do not do the same work a GPU (weak)
/// or in all (strong).
Measured<Efficiency> efficiency_against(const RunSummary& baseline, const RunSummary& summary);

/// Why a run whose baseline is not in the store has no efficiency.
std::string reason_without_baseline(const store::RunRecord& run);

}  // namespace ddbench::analyzer
