#pragma once

#include <string>
#include <vector>

#include "analyzer/comparison/best_setting.h"
#include "analyzer/figure/figure.h"
#include "analyzer/run/case_figures.h"
#include "analyzer/run/run_summary.h"
#include "core/run_case/program_files.h"

namespace ddbench::analyzer {

/// One line of the scaling table: the repetitions of one case.
struct ScalingRow {
  RunCase run_case;
  ProgramFiles script;  ///< of a program; runs of an edited one have a row of their own
  int world_size = 0;
  /// How it differs apart from size, batch per GPU and link: "strategy=ddp lr=0.1"; empty if nothing varies.
  std::string variant;
  int repetitions = 0;  ///< that gave figures
  /// This and the following are those of CaseFigures and CaseEfficiency (analyzer/run/case_figures.h).
  Measured<Quantity> step_time_ns = Measured<Quantity>::missing("no steps");
  Measured<double> samples_per_s = Measured<double>::missing("no steps");
  Measured<double> speedup = Measured<double>::missing("no baseline");
  Measured<ConfidenceInterval> speedup_interval = Measured<ConfidenceInterval>::missing("no baseline");
  Measured<double> efficiency = Measured<double>::missing("no baseline");
  Measured<ConfidenceInterval> efficiency_interval = Measured<ConfidenceInterval>::missing("no baseline");
  Measured<double> serial_fraction = Measured<double>::missing("one GPU");
  Measured<double> exposed_communication_share = Measured<double>::missing("no figures");
  Measured<Waterfall> waterfall = Measured<Waterfall>::missing("no baseline");
  ProvenanceSet provenance;
  std::string state;  ///< "done", or why there is no figure
};

struct ScalingTable {
  std::string sweep_id;
  ScalingMode mode = ScalingMode::kWeak;
  std::string baseline;          ///< in words: "1 GPU (run 2026...)"
  std::vector<ScalingRow> rows;  ///< by world size, then nodes, then age
  std::vector<BestSetting> best;  ///< where settings were varied that train the same
  std::vector<std::string> notes;
};

/// The runs of a sweep (and the baselines against which they were stated, if these are outside the sweep)
/// against the smallest: if several have the smallest size, against the one that is the row's baseline_case,
/// else the first; never one of an edited script. Speedup, N and efficiency as in Efficiency. Throws
/// Error{kBadInput} when the store has no run of the sweep.
ScalingTable scaling_table(const store::RunStore& store, const std::string& sweep_id);

/// Efficiency in percent over GPUs beside the ideal 100%: a series for each set of provenances, and for each
/// value of a field of the case that varies beside the size (link, batch, ...).
Figure scaling_efficiency(const ScalingTable& table);

/// The row with the most information about the cost of scale: the largest with an efficiency, among equals
/// the most efficient. Null if none has one. Lives as long as the table.
const ScalingRow* largest_compared(const ScalingTable& table);

/// What a row lost against the table's baseline, part by part, with intervals over its runs.
Figure waterfall_figure(const ScalingTable& table, const ScalingRow& row);

}  // namespace ddbench::analyzer
