#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ddbench/analyzer/figure.h"
#include "ddbench/analyzer/statistics.h"
#include "ddbench/analyzer/utilisation.h"
#include "ddbench/store/run_store.h"

namespace ddbench::analyzer {

struct CollectiveSummary {
  store::CollectiveRecord record;
  /// bytes / transfer time, 1e9 B/s
  Measured<double> algbw_gb_per_s = Measured<double>::missing("no transfer");
  /// algbw * bus_factor(function, ranks); missing for functions without one, and on one rank
  Measured<double> busbw_gb_per_s = Measured<double>::missing("no transfer");
};

/// 2(n-1)/n for all_reduce, (n-1)/n for all_gather, reduce_scatter and all_to_all, 1 for broadcast, reduce,
/// send_recv (NCCL tests, doc/PERFORMANCE.md). Throws Error{kBadInput} on a function it does not know.
double bus_factor(std::string_view function, int ranks);

/// The efficiency of a run against its baseline, and where the rest went. With a baseline on M GPUs, N counts
/// multiples of it (world size / M).
struct Efficiency {
  store::RunRecord baseline;
  double value = 0;  ///< S(N)/N
  double speedup =
      0;  ///< S(N): samples/s over the baseline's samples/s; strong: T(1)/T(N), as the batch is the same
  /// Karp-Flatt; missing under weak scaling and for N = 1.
  Measured<double> serial_fraction = Measured<double>::missing("weak scaling");
  /// Lost step time, bar by bar: this run's partition minus the ideal one (the baseline's under weak scaling,
  /// the baseline's divided by N under strong). A negative bar is time won. The bars sum to lost_ns.
  store::StepPartition waterfall;
  /// Mean step of a rank here minus the ideal one. A difference of means, where `value` is a ratio of medians
  /// of slowest ranks: lost_ns/partition.total_ns() is near 1 - value and not equal to it.
  std::int64_t lost_ns = 0;
};

/// What `ddbench show` tells of one run. Times in ns, over the measured steps (warm-up excluded) that all
/// ranks recorded.
struct RunSummary {
  using Efficiency = analyzer::Efficiency;
  store::RunRecord run;
  std::vector<store::RankRecord> ranks;
  int measured_steps = 0;  ///< probe-off steps included
  int probed_steps = 0;    ///< those with the probes on: what partition, overlap and waits are taken over
  /// Median over measured steps of the slowest rank's time.
  Measured<Estimate> step_time_ns = Measured<Estimate>::missing("no steps");
  Measured<double> samples_per_s =
      Measured<double>::missing("no steps");  ///< global batch / median of the slowest rank
  Utilisation utilisation;                    ///< only of summaries that were given a catalogue
  Measured<double> loss_first =
      Measured<double>::missing("no loss recorded");  ///< mean over ranks, first step at all
  Measured<double> loss_last = Measured<double>::missing("no loss recorded");
  /// The mean over all ranks and all probed steps of each part, in whole nanoseconds, rounded so that the
  /// parts sum to the mean duration of these steps (partition.total_ns(), the "mean step"). Not scaled to
  /// step_time_ns, which is a median over slowest ranks: outlying steps and unequal ranks make the two
  /// differ. All 0 without probed steps.
  store::StepPartition partition;
  std::int64_t communication_ns = 0;  ///< same mean: the union of communication
  /// partition.exposed_communication_ns(). Not known where a program's compute was not recorded: the parts
  /// count all of its communication as exposed then.
  Measured<std::int64_t> exposed_communication_ns =
      Measured<std::int64_t>::missing("no measured step with the probes on");
  /// communication_ns - exposed_communication_ns
  Measured<std::int64_t> overlap_ns = Measured<std::int64_t>::missing("no measured step with the probes on");
  /// Same mean: peer wait of all collectives of a step, exposed or not.
  Measured<std::int64_t> peer_wait_ns = Measured<std::int64_t>::missing("no collectives");
  std::vector<CollectiveSummary> collectives;
  std::vector<store::KernelRecord> kernels;
  /// What the kernel rows are taken over: probed steps, counted over ranks, whose spans were all kept.
  std::int64_t kernel_steps = 0;
  /// What the probes add to a step: each probe-off step against its probe-on neighbours, both as means over
  /// ranks.
  Measured<Estimate> probe_overhead_percent = Measured<Estimate>::missing("no probe-off windows");
  std::uint64_t dropped_spans = 0;
  Measured<Efficiency> efficiency = Measured<Efficiency>::missing("no baseline");
  std::vector<std::string> notes;  ///< caveats that a reader must see, gravest first
};

/// Throws Error{kBadInput} when the run is unknown. Never throws for a run that is short, failed or empty:
/// what cannot be known is missing with its reason.
RunSummary summarize(const store::RunStore& store, const store::RunId& id);
/// The same with the utilisation.
RunSummary summarize(const store::RunStore& store, const store::RunId& id, const SkuCatalogue& catalogue);

/// The same for tables over many runs: without what takes long or looks at other runs (the interval of the
/// step time, the overhead of the probes, the efficiency, the notes).
RunSummary summarize_briefly(const store::RunStore& store, store::RunRecord run);
/// The same with the efficiency.
RunSummary summarize_for_list(const store::RunStore& store, store::RunRecord run);

/// Whether the library of the collectives told how it did any of them (CollectiveRecord::manner).
bool tells_manners(const RunSummary& summary);

/// The step partition of a run as stacked bars, and the loss waterfall (empty when there is no efficiency; a
/// note says why).
Figure partition_figure(const RunSummary& summary);
Figure waterfall_figure(const RunSummary& summary);

}  // namespace ddbench::analyzer
