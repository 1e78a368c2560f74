#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "analyzer/rate/step_rate.h"
#include "analyzer/run/run_summary.h"

namespace ddbench::analyzer {

/// The figures of one case: of all its runs that gave some. The one computation behind `show`, `sweep`,
/// `scaling`, every report and the dashboard, so that they show the same digits.
struct CaseFigures {
  RunCase run_case;
  std::vector<store::RunId> runs;  ///< oldest first, as given
  std::vector<double> run_samples_per_s;
  double samples_per_s = 0;  ///< geometric mean over runs
  /// Why these are no samples/s but RunSummary::work_per_s; empty where they are.
  std::string without_samples;
  /// Global batch / samples_per_s. Interval: one run: that of its steps; kFewestRuns or more: Student's t over
  /// runs; two: missing. Missing as that of the runs (RunSummary::step_time_ns).
  Measured<Quantity> step_time_ns = Measured<Quantity>::missing("no runs");
  std::vector<store::StepPartition> run_partitions;  ///< of the runs that have one
  /// Mean over runs, in proportion; sums to the step time, rounded to whole ns.
  Measured<store::StepPartition> partition = Measured<store::StepPartition>::missing("no partition");
  Measured<double> exposed_share = Measured<double>::missing("no partition");  ///< of the partition
};

/// The mean of the partitions of several runs, in proportion; sums to `step_time_ns`, rounded to whole ns. Missing where there are none.
Measured<store::StepPartition> mean_partition(std::span<const store::StepPartition> partitions, double step_time_ns);

/// `runs` are of one case, not empty, and each has work_per_s.
CaseFigures case_figures(std::span<const RunSummary> runs);

/// What a case lost against a reference, part by part.
struct Waterfall {
  /// The case's partition minus the ideal one (the reference's under weak scaling, its share of the work under
  /// strong). A negative bar is time won. Sums to lost_ns.
  store::StepPartition lost;
  std::int64_t lost_ns = 0;  ///< step time * (1 - efficiency), to the rounding of a nanosecond
  Measured<LossIntervals> intervals = Measured<LossIntervals>::missing("no runs");
};

/// A case against a reference: a case that does the same work a GPU (weak scaling) or in all (strong).
struct CaseEfficiency {
  double n = 1;        ///< multiples of the reference's GPUs
  Quantity speedup;    ///< samples/s over the reference's: S(N)
  Quantity efficiency; ///< S(N)/N
  Measured<Metric> serial_fraction = Measured<Metric>::missing("weak scaling");  ///< Karp and Flatt
  Measured<Waterfall> waterfall = Measured<Waterfall>::missing("no partition");
};

/// Intervals are over runs (ratio_of_runs; Welch's t of the differences for the bars), and missing where either
/// side has fewer than kFewestRuns. Missing, with the reason, where the batches differ, or the samples of only one side are known.
Measured<CaseEfficiency> efficiency_against(const CaseFigures& reference, const CaseFigures& here);

/// The same of two single runs. Missing, with the reason, when either run gives no figure or the two do not do the same work a GPU (weak)
/// or in all (strong).
Measured<Efficiency> efficiency_against(const RunSummary& baseline, const RunSummary& summary);

/// Superlinear speedup exists (caches), but further above 1 the two runs mostly did not do the same work.
inline constexpr double kMostPlausibleEfficiency = 1.1;

/// What to check where an efficiency is above that; empty below: "an efficiency of 187.9% is hardly possible: ...". Of fewer GPUs than the
/// reference (`n` below 1: CaseEfficiency::n) it is no doubt but what the figure means.
std::string doubt_about_efficiency(double efficiency, double n = 1);

/// Why a run whose baseline is not in the store has no efficiency.
std::string reason_without_baseline(const store::RunRecord& run);

}  // namespace ddbench::analyzer
