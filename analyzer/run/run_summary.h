#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/collectives/collective_summary.h"
#include "analyzer/figure/figure.h"
#include "analyzer/rate/step_rate.h"
#include "analyzer/run/utilisation.h"
#include "analyzer/statistics/statistics.h"
#include "analyzer/store/rows/run_store.h"

namespace ddbench::analyzer {

/// Intervals of the bars of a waterfall, in ns.
struct LossIntervals {
  std::array<ConfidenceInterval, store::kStepPartCount> parts;
  ConfidenceInterval lost;  ///< of their sum
};

/// The efficiency of a run against its baseline, and the causes of the loss. With a baseline on M GPUs, N
/// counts multiples of it (world size / M). Computed by case_figures.h, like all efficiencies in tables.
struct Efficiency {
  store::RunRecord baseline;
  double value = 0;  ///< S(N)/N
  double speedup =
      0;  ///< S(N): samples/s over the baseline's samples/s; strong: T(1)/T(N), as the batch is the same
  Measured<ConfidenceInterval> interval = Measured<ConfidenceInterval>::missing("one run");  ///< of value
  Measured<ConfidenceInterval> speedup_interval = Measured<ConfidenceInterval>::missing("one run");
  /// Karp-Flatt; missing under weak scaling and for N = 1.
  Measured<double> serial_fraction = Measured<double>::missing("weak scaling");
  /// Lost step time, bar by bar: this run's partition minus the ideal one (the baseline's under weak scaling,
  /// the baseline's divided by N under strong). A negative bar is time won. The bars sum to lost_ns.
  store::StepPartition waterfall;
  std::int64_t lost_ns = 0;  ///< step time * (1 - value), to the rounding of a nanosecond
  Measured<LossIntervals> loss_intervals = Measured<LossIntervals>::missing("one run");
};

/// The content of `ddbench show` for one run. Times in ns, over the measured steps (warm-up excluded) that
/// all ranks recorded.
struct RunSummary {
  using Efficiency = analyzer::Efficiency;
  store::RunRecord run;
  std::vector<store::RankRecord> ranks;
  int measured_steps = 0;  ///< probe-off steps included
  int probed_steps = 0;    ///< steps with the probes on: the basis of partition, overlap and waits
  /// StepRate: elapsed time of the measured steps / their number. Missing for an imported throughput without a batch.
  Measured<Quantity> step_time_ns = Measured<Quantity>::missing("no steps");
  Measured<double> independent_steps = Measured<double>::missing("no steps");  ///< StepRate::independent_steps
  /// Samples of the measured steps / the same elapsed time; or as an imported source states it.
  Measured<double> samples_per_s = Measured<double>::missing("no steps");
  /// samples_per_step()
  Measured<double> samples_per_step = Measured<double>::missing("no steps");
  /// recorded_learning_rates()
  std::vector<std::pair<std::uint32_t, double>> learning_rates;
  /// The quantity that speedups compare: samples_per_s, or, if the number of samples per step is not known,
  /// steps per second of all ranks, which assumes that a rank's step has equally many samples at each size.
  Measured<double> work_per_s = Measured<double>::missing("no steps");
  /// Missing, too, where a source gave means of steps.
  Measured<StepDistribution> distribution = Measured<StepDistribution>::missing("no steps");
  std::int64_t left_out_ns = 0;  ///< MeasuredSteps::left_out_ns
  bool clocks_known = true;      ///< MeasuredSteps::clocks_known
  Utilisation utilisation;                    ///< only of summaries that were given a catalogue
  Measured<double> loss_first =
      Measured<double>::missing("no loss recorded");  ///< mean over ranks, first step at all
  Measured<double> loss_last = Measured<double>::missing("no loss recorded");
  /// RunPartition: where the step time goes. Sums to step_time_ns in whole nanoseconds; all 0 without probed
  /// steps.
  store::StepPartition partition;
  std::int64_t communication_ns = 0;  ///< a step: the union of communication
  /// partition.exposed_communication_ns(). Not known where a program's compute was not recorded: the parts
  /// count all of its communication as exposed then.
  Measured<std::int64_t> exposed_communication_ns =
      Measured<std::int64_t>::missing("no measured step with the probes on");
  /// A step: communication that compute hid. communication_ns is this, the exposed communication, and the
  /// CPU wait within it.
  Measured<std::int64_t> overlap_ns = Measured<std::int64_t>::missing("no measured step with the probes on");
  Measured<ConfidenceInterval> overlap_interval =
      Measured<ConfidenceInterval>::missing("no measured step with the probes on");  ///< of overlap_ns
  /// partition[kCpuWait]; missing if no rank reported how long its threads waited for a core.
  Measured<std::int64_t> cpu_wait_ns = Measured<std::int64_t>::missing("not recorded");
  /// How much longer compute takes beside communication (finalize/compute_slowdown.h), in percent.
  Measured<Estimate> compute_slowdown_percent = Measured<Estimate>::missing("not measured");
  /// Peer wait of all collectives of a step, exposed or not.
  Measured<std::int64_t> peer_wait_ns = Measured<std::int64_t>::missing("no collectives");
  std::int64_t peer_wait_uncertainty_ns = 0;  ///< same mean: how far the clocks leave it open, +-
  std::vector<CollectiveSummary> collectives;
  std::vector<store::KernelRecord> kernels;
  /// What the kernel rows are taken over: probed steps, counted over ranks, whose spans were all kept.
  std::int64_t kernel_steps = 0;
  /// What the probes add to a step: each probe-off step against its probe-on neighbours, both as means over
  /// ranks. Missing if CUPTI went on recording in probe-off steps, or if these took more than 1% longer.
  Measured<Estimate> probe_overhead_percent = Measured<Estimate>::missing("no probe-off windows");
  /// What the probes take in a step by the direct account, over a rank's threads, in ns (facts "probe_cost.*").
  Measured<double> probe_account_ns = Measured<double>::missing("not recorded");
  std::uint64_t dropped_spans = 0;
  Measured<Efficiency> efficiency = Measured<Efficiency>::missing("no baseline");
  std::vector<std::string> notes;  ///< caveats that a reader must see, gravest first
};

/// Throws Error{kBadInput} when the run is unknown. Never throws for a short, failed or empty run: unknown
/// figures are missing with their reason.
RunSummary summarize(const store::RunStore& store, const store::RunId& id);
/// The same with the utilisation.
RunSummary summarize(const store::RunStore& store, const store::RunId& id, const SkuCatalogue& catalogue);

/// The same for tables over many runs: without figures that are expensive or need other runs (the interval of
/// the step time, the overhead of the probes, the efficiency, the notes).
RunSummary summarize_briefly(const store::RunStore& store, store::RunRecord run);
/// The same of a run whose rows have been read (RunStore::rows).
RunSummary summarize_rows(store::RunRecord run, store::RunRows rows);
/// The same with the efficiency.
RunSummary summarize_for_list(const store::RunStore& store, store::RunRecord run);

/// Samples of a step over all ranks: of the case, counted from a program's DataLoaders, or as the step time and the throughput of an
/// imported run say.
Measured<double> samples_per_step(const store::RunRecord& run);

/// Why a run has no distribution of steps whose source gave one mean: its one step stands for all.
inline constexpr const char* kOneMean = "the source gives one mean";
bool gives_one_mean(const RunSummary& summary);

/// Whether the collectives' library reported how it performed any of them (CollectiveRecord::nccl_algorithm).
bool has_nccl_settings(const RunSummary& summary);

/// Whether tables must name the communicators: some are not the communicator of all ranks.
bool names_communicators(const RunSummary& summary);

/// The step partition of a run as stacked bars, and the loss waterfall (if there is no efficiency, it is
/// empty and a note states why).
Figure partition_figure(const RunSummary& summary);
Figure waterfall_figure(const RunSummary& summary);

}  // namespace ddbench::analyzer
