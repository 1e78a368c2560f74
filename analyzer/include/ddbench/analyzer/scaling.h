#pragma once

#include <string>
#include <vector>

#include "ddbench/analyzer/figure.h"
#include "ddbench/analyzer/run_summary.h"

namespace ddbench::analyzer {

/// One line of the scaling table: the repetitions of one case.
struct ScalingRow {
  RunCase run_case;
  int world_size = 0;
  int repetitions = 0;
  Measured<Estimate> step_time_ns = Measured<Estimate>::missing("no steps");
  Measured<double> samples_per_s = Measured<double>::missing("no steps");
  Measured<double> speedup = Measured<double>::missing("no baseline");
  Measured<double> efficiency = Measured<double>::missing("no baseline");
  Measured<double> serial_fraction = Measured<double>::missing("one GPU");
  double exposed_communication_share = 0;  ///< of the step
  ProvenanceSet provenance;
  std::string state;  ///< "done", or why there is no figure
};

struct ScalingTable {
  ScalingMode mode = ScalingMode::kWeak;
  std::string baseline;          ///< in words: "1 GPU (run 2026...)"
  std::vector<ScalingRow> rows;  ///< by world size
  std::vector<std::string> notes;
};

/// The runs of a sweep against its smallest run.
ScalingTable scaling_table(const store::RunStore& store, const std::string& sweep_id);
Figure scaling_efficiency(const ScalingTable& table);

}  // namespace ddbench::analyzer
