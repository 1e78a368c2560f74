#pragma once

#include "analyzer/rate/measured_steps.h"
#include "analyzer/statistics/statistics.h"

namespace ddbench::analyzer {

/// The distribution of step lengths. A step's length is its contribution to the elapsed time, so that the
/// mean of the lengths is the step time.
struct StepDistribution {
  double p50_ns = 0;
  double p95_ns = 0;
  double p99_ns = 0;
  double max_ns = 0;
  /// Mean over steps of the slowest rank's duration minus the fastest rank's; 0 with one rank. Missing where
  /// only one rank of several was recorded.
  Measured<double> skew_ns = 0.0;
  /// Steps longer than p75 + 3 (p75 - p25) (Tukey's far outliers), and their time beyond the median step.
  int outliers = 0;
  double outlier_share = 0;  ///< outliers / steps
  double lost_share = 0;     ///< time they took beyond the median step / elapsed time
};

/// The rate of a run's measured steps: the only source of step time and throughput.
struct StepRate {
  int steps = 0;
  std::int64_t elapsed_ns = 0;
  std::int64_t left_out_ns = 0;  ///< MeasuredSteps::left_out_ns
  /// elapsed_ns / steps. Interval: mean_of_steps of the steps' contributions, within this run; it says
  /// nothing about the scatter between runs.
  Quantity step_time_ns;
  /// How many independent steps that interval is worth; missing as it is.
  Measured<double> independent_steps = Measured<double>::missing("no interval");
  StepDistribution distribution;
  bool clocks_known = false;  ///< MeasuredSteps::clocks_known

  /// Samples of the measured steps / elapsed time, with `samples_per_step` samples in each.
  double samples_per_s(double samples_per_step) const;
};

/// Missing, with the reason, without steps and when they took no time. Without `with_interval` the interval,
/// the costly part, is missing. Pure; O(n log n).
Measured<StepRate> step_rate(const MeasuredSteps& measured, bool with_interval);

/// The interval of samples/s that follows from that of the time in which `samples` are done.
Measured<ConfidenceInterval> rate_interval(double samples, const Measured<ConfidenceInterval>& time_ns);

}  // namespace ddbench::analyzer
