#pragma once

#include <string>
#include <vector>

#include "ddbench/analyzer/figure.h"
#include "ddbench/analyzer/run_summary.h"

namespace ddbench::analyzer {

/// The serial fraction (1/S - 1/N)/(1 - 1/N) of a strong-scaling speedup S on N processors (Karp and Flatt
/// 1990). Throws Error{kBadInput} unless S > 0 and N > 1.
double karp_flatt(double speedup, double n);

/// One line of the scaling table: the repetitions of one case.
struct ScalingRow {
  RunCase run_case;
  int world_size = 0;
  /// What sets it apart beside size, batch per GPU and link: "strategy=ddp lr=0.1"; empty where nothing
  /// varies.
  std::string variant;
  int repetitions = 0;  ///< that gave figures
  /// One run: its median and bootstrap interval. Several: the mean of their medians and Student's t over
  /// runs.
  Measured<Estimate> step_time_ns = Measured<Estimate>::missing("no steps");
  Measured<double> samples_per_s = Measured<double>::missing("no steps");
  Measured<double> speedup = Measured<double>::missing("no baseline");
  Measured<double> efficiency = Measured<double>::missing("no baseline");
  Measured<double> serial_fraction = Measured<double>::missing("one GPU");
  /// Of the mean step; mean over repetitions.
  Measured<double> exposed_communication_share = Measured<double>::missing("no figures");
  ProvenanceSet provenance;
  std::string state;  ///< "done", or why there is no figure
};

struct ScalingTable {
  std::string sweep_id;
  ScalingMode mode = ScalingMode::kWeak;
  std::string baseline;          ///< in words: "1 GPU (run 2026...)"
  std::vector<ScalingRow> rows;  ///< by world size, then nodes, then age
  std::vector<std::string> notes;
};

/// The runs of a sweep (and the baselines they were stated against, where these lie outside of it) against
/// the smallest: where there are several of the smallest size, against the one that is the row's
/// baseline_case, else the first. Speedup, N and efficiency as in Efficiency. Throws Error{kBadInput} when
/// the store has no run of the sweep.
ScalingTable scaling_table(const store::RunStore& store, const std::string& sweep_id);

/// Efficiency in percent over GPUs beside the ideal 100 %: a series for each set of provenances, and for each
/// value of a field of the case that varies beside the size (link, batch, ...).
Figure scaling_efficiency(const ScalingTable& table);

}  // namespace ddbench::analyzer
