#pragma once

#include <span>

#include "analyzer/figure/figure.h"
#include "analyzer/run/run_summary.h"

namespace ddbench::analyzer {

// Figures of one run, in addition to partition_figure and waterfall_figure. `steps` are RunStore::steps of
// the run. A figure without content has a note with the reason.

/// Duration of each measured step on its slowest rank and on its fastest: stragglers, outliers and drift.
Figure step_time_figure(const RunSummary& summary, std::span<const store::StepRecord> steps);

/// Mean loss over ranks, warm-up included.
Figure loss_figure(const RunSummary& summary, std::span<const store::StepRecord> steps);

/// Mean partition of the probed steps of each rank.
Figure rank_partition_figure(const RunSummary& summary, std::span<const store::StepRecord> steps);

/// Bus bandwidth of each kind of collective.
Figure bus_bandwidth_figure(const RunSummary& summary);

/// Adds the bars of a loss waterfall, part by part, and their sum, in ms and each with its interval; if
/// intervals are missing, a note states why.
void add_waterfall(const store::StepPartition& lost, const Measured<LossIntervals>& intervals,
                   ProvenanceSet provenance, Figure& figure);

/// The loss waterfall of a case against `baseline` (in words): add_waterfall() with title, axes and that
/// note, or a note with the reason why there is none.
Figure case_waterfall_figure(const RunCase& run_case, const std::string& baseline,
                             const Measured<store::StepPartition>& lost,
                             const Measured<LossIntervals>& intervals, ProvenanceSet provenance);

}  // namespace ddbench::analyzer
