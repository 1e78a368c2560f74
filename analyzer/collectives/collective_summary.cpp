#include "analyzer/collectives/collective_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/collectives/bus_factor.h"
#include "analyzer/collectives/communicator_label.h"
#include "core/run_case/program_case.h"
#include "core/error.h"
#include "core/facts/facts.h"
#include "core/text/quantity.h"

namespace ddbench::analyzer {
namespace {

// 1e9 B/s. A collective writes its bytes on every rank: two sockets with twelve channels of DDR5-6400 deliver 1,229
// together, a link of a GPU at most 3,600 (NVLink 6, both directions).
constexpr double kMostOfMemory = 1500;
constexpr double kMostOfGpu = 5000;

std::string below_resolution(std::int64_t bound_ns) {
  return fmt::format("below clock resolution (< {})", quantity(static_cast<double>(bound_ns), "ns"));
}

std::string unknown_size(const store::RunRecord& run) {
  return "the size of the communicator is not known: " +
         get_fact(run.environment.facts, fact_key<"analysis.communicators_unknown">)
             .value_or("the run was stored by a ddbench that did not record it");
}

bool may_use_gpu(const store::CollectiveRecord& record, const store::RunRecord& run) {
  return !record.nccl_algorithm.empty() || run.run_case.on_gpus() ||
         get_fact(run.environment.facts, fact_key<"gpu.count">).value_or(0) > 0;
}

/// Batches of iterations are timed as one: their mean is finer than the probes.
bool is_mean_of_batch(const store::RunRecord& run) {
  return is_micro(run.run_case);
}

Measured<std::int64_t> transfer_of(const store::CollectiveRecord& record, const store::RunRecord& run) {
  if (record.transfer_ns <= 0) return Measured<std::int64_t>::missing("no transfer");
  if (is_mean_of_batch(run)) return record.transfer_ns;
  const std::int64_t resolution_ns = std::max(kProbeResolution_ns, record.transfer_uncertainty_ns);
  if (record.transfer_ns >= resolution_ns) return record.transfer_ns;
  return Measured<std::int64_t>::missing(
      below_resolution(std::max(kProbeResolution_ns, record.transfer_ns + record.transfer_uncertainty_ns)));
}

Measured<std::int64_t> peer_wait_of(const store::CollectiveRecord& record, const store::RunRecord& run) {
  if (!is_training(run.run_case)) return Measured<std::int64_t>::missing(kNoArrivals);
  if (!record.peer_wait_resolved) return Measured<std::int64_t>::missing("below clock resolution");
  if (record.peer_wait_ns >= kProbeResolution_ns) return record.peer_wait_ns;
  return Measured<std::int64_t>::missing(below_resolution(kProbeResolution_ns));
}

Measured<double> algbw_of(const CollectiveSummary& summary, const store::RunRecord& run) {
  using Bandwidth = Measured<double>;
  const store::CollectiveRecord& record = summary.record;
  if (!summary.transfer_ns) return Bandwidth::missing(summary.transfer_ns.reason());
  if (record.bytes == 0) return Bandwidth::missing("no transfer");
  if (record.communicator.ranks == 1) return Bandwidth::missing("one rank uses no bus");
  // Bytes a nanosecond are 1e9 bytes a second.
  const double algbw = static_cast<double>(record.bytes) / static_cast<double>(*summary.transfer_ns);
  if (algbw <= (may_use_gpu(record, run) ? kMostOfGpu : kMostOfMemory)) return algbw;
  return Bandwidth::missing(fmt::format(
      "{} in {} is more than memory delivers: the call was enqueued in that time, its transfer was not recorded",
      quantity(static_cast<double>(record.bytes), "B"), quantity(static_cast<double>(*summary.transfer_ns), "ns")));
}

Measured<double> busbw_of(const CollectiveSummary& summary, const store::RunRecord& run) {
  using Bandwidth = Measured<double>;
  const int ranks = summary.record.communicator.ranks;
  if (!summary.algbw_gb_per_s) return Bandwidth::missing(summary.algbw_gb_per_s.reason());
  if (ranks == 0) return Bandwidth::missing(unknown_size(run));
  try {
    return *summary.algbw_gb_per_s * bus_factor(summary.record.function, ranks);
  } catch (const Error& error) {
    return Bandwidth::missing(error.message());
  }
}

}  // namespace

CollectiveSummary summarize_collective(const store::CollectiveRecord& record, const store::RunRecord& run) {
  CollectiveSummary summary;
  summary.record = record;
  summary.communicator = communicator_label(record.communicator, run.run_case.world_size());
  summary.transfer_ns = transfer_of(record, run);
  summary.peer_wait_ns = peer_wait_of(record, run);
  if (summary.transfer_ns)
    summary.clock_uncertainty_share =
        static_cast<double>(record.transfer_uncertainty_ns) / static_cast<double>(*summary.transfer_ns);
  summary.algbw_gb_per_s = algbw_of(summary, run);
  summary.busbw_gb_per_s = busbw_of(summary, run);
  return summary;
}

Measured<double> carried_transfer_ns(const CollectiveSummary& collective) {
  const store::CollectiveRecord& record = collective.record;
  if (!collective.transfer_ns) return Measured<double>::missing(collective.transfer_ns.reason());
  if (record.bytes > 0 && record.communicator.ranks != 1 && !collective.algbw_gb_per_s)
    return Measured<double>::missing(collective.algbw_gb_per_s.reason());
  return static_cast<double>(*collective.transfer_ns);
}

bool leaves_before_its_end(const CollectiveSummary& collective) {
  return collective.transfer_ns && collective.record.duration_ns < *collective.transfer_ns;
}

}  // namespace ddbench::analyzer
