#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ddbench/analyzer/figure.h"
#include "ddbench/analyzer/statistics.h"
#include "ddbench/store/run_store.h"

namespace ddbench::analyzer {

struct CollectiveSummary {
  store::CollectiveRecord record;
  double algbw_gb_per_s = 0;  ///< bytes / transfer time, 1e9 B/s
  double busbw_gb_per_s = 0;  ///< algbw * bus_factor(function, ranks)
};

/// 2(n-1)/n for all_reduce, (n-1)/n for all_gather, reduce_scatter and all_to_all, 1 for broadcast, reduce,
/// send_recv (NCCL tests, doc/PERFORMANCE.md). Throws Error{kBadInput} on a function it does not know.
double bus_factor(std::string_view function, int ranks);

/// What `ddbench show` tells of one run. Times in ns, over measured steps (warm-up excluded), probe-on steps
/// only where the partition is concerned. A step's time is that of the slowest rank.
struct RunSummary {
  store::RunRecord run;
  std::vector<store::RankRecord> ranks;
  int measured_steps = 0;
  Measured<Estimate> step_time_ns = Measured<Estimate>::missing("no steps");
  Measured<double> samples_per_s = Measured<double>::missing("no steps");
  Measured<double> loss_first = Measured<double>::missing("no loss recorded");
  Measured<double> loss_last = Measured<double>::missing("no loss recorded");
  /// Mean over ranks and steps, scaled so that it sums to the mean step time of the ranks.
  store::StepPartition partition;
  std::int64_t overlap_ns = 0;
  std::int64_t exposed_communication_ns = 0;
  std::int64_t communication_ns = 0;
  Measured<std::int64_t> peer_wait_ns = Measured<std::int64_t>::missing("no collectives");
  std::vector<CollectiveSummary> collectives;
  std::vector<store::KernelRecord> kernels;
  Measured<Estimate> probe_overhead_percent = Measured<Estimate>::missing("no probe-off windows");
  std::uint64_t dropped_spans = 0;
  std::vector<std::string>
      notes;  ///< caveats: oversubscription, clocks, mixed provenance, fallback of the network
  struct Efficiency {
    store::RunRecord baseline;
    double value = 0;  ///< S(N)/N
    double speedup = 0;
    double serial_fraction = 0;  ///< Karp-Flatt; only meaningful for strong scaling and N > 1
    /// Lost step time, bar by bar: this run's partition minus the ideal one (baseline's, divided by N when
    /// strong). The bars sum to lost_ns.
    store::StepPartition waterfall;
    std::int64_t lost_ns = 0;
  };
  Measured<Efficiency> efficiency = Measured<Efficiency>::missing("no baseline");
};

/// Throws Error{kBadInput} when the run is unknown. Never throws for a run that is short, failed or empty:
/// what cannot be known is missing with its reason.
RunSummary summarize(const store::RunStore& store, const store::RunId& id);

/// The step partition of a run as stacked bars, and the loss waterfall.
Figure partition_figure(const RunSummary& summary);
Figure waterfall_figure(const RunSummary& summary);

}  // namespace ddbench::analyzer
