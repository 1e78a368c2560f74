#include "ddbench/analyzer/run_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "clock_alignment.h"
#include "ddbench/analyzer/finalize.h"
#include "ddbench/analyzer/micro_table.h"
#include "ddbench/record/error.h"
#include "ddbench/record/program_case.h"
#include "ddbench/store/abandoned.h"
#include "efficiency.h"
#include "notes.h"
#include "numeric_fact.h"
#include "step_series.h"

namespace ddbench::analyzer {
namespace {

std::uint32_t first_measured_step(const store::RunRecord& run) {
  return static_cast<std::uint32_t>(run.run_case.warmup);
}

void add_step_times(const std::vector<RunStep>& steps, bool with_intervals, RunSummary& summary) {
  std::vector<double> times_ns;
  for (const RunStep& step : steps) {
    times_ns.push_back(step.slowest_ns);
    summary.probed_steps += step.probes_on;
  }
  summary.measured_steps = static_cast<int>(steps.size());
  if (times_ns.empty()) return;
  if (with_intervals) {
    summary.probe_overhead_percent = probe_overhead_percent(steps);
    summary.step_time_ns = median_of_steps(times_ns);
  } else {
    summary.step_time_ns =
        Measured<Estimate>::missing("tables of many runs have no intervals: see ddbench show");
  }
  const double typical_ns = median(std::move(times_ns));
  if (typical_ns <= 0) {
    summary.samples_per_s = Measured<double>::missing("steps took no time: their clock stood still");
  } else {
    summary.samples_per_s = static_cast<double>(summary.run.run_case.global_batch()) * 1e9 / typical_ns;
  }
}

/// Means over the records of probed steps.
void add_partition(const std::vector<store::StepRecord>& records, const std::vector<RunStep>& steps,
                   RunSummary& summary) {
  store::StepPartition sum;
  std::int64_t peer_wait_ns = 0;
  std::int64_t count = 0;
  auto step = steps.begin();
  for (const store::StepRecord& record : records) {
    while (step != steps.end() && step->step < record.step) ++step;
    if (step == steps.end() || step->step != record.step || !step->probes_on) continue;
    for (std::size_t part = 0; part < sum.ns.size(); ++part) sum.ns[part] += record.partition.ns[part];
    summary.communication_ns += record.communication_ns;
    peer_wait_ns += record.peer_wait_ns;
    ++count;
  }
  if (count == 0) return;
  summary.partition = divide_parts(sum, count);
  const std::int64_t exposed_ns = summary.partition.exposed_communication_ns();
  // Overlap is what remains, so that the identity holds after rounding too.
  summary.communication_ns = std::max(summary.communication_ns / count, exposed_ns);
  summary.peer_wait_ns = peer_wait_ns / count;
  if (is_program(summary.run.run_case) && summary.partition.compute_ns() == 0 && exposed_ns > 0) {
    summary.exposed_communication_ns = summary.overlap_ns = Measured<std::int64_t>::missing(
        "nothing that the program computed was recorded, which may have hidden it");
  } else {
    summary.exposed_communication_ns = exposed_ns;
    summary.overlap_ns = summary.communication_ns - exposed_ns;
  }
}

/// Replaces the mean by the reason why it says nothing, where it does.
void judge_peer_wait(RunSummary& summary) {
  using Wait = Measured<std::int64_t>;
  const ClockAlignment clocks(summary.ranks);
  bool resolved = false;
  for (const CollectiveSummary& collective : summary.collectives)
    resolved |= collective.record.peer_wait_resolved;
  if (summary.run.run_case.world_size() == 1) {
    summary.peer_wait_ns = Wait::missing("one rank waits for nobody");
  } else if (summary.run.run_case.workload == kMicroWorkload) {
    summary.peer_wait_ns = Wait::missing("batches of iterations are timed, not arrivals");
  } else if (summary.collectives.empty()) {
    summary.peer_wait_ns = Wait::missing("no collectives");
  } else if (!clocks.known()) {
    summary.peer_wait_ns = Wait::missing("the clocks of the ranks were not compared");
  } else if (!resolved) {
    summary.peer_wait_ns = Wait::missing(fmt::format(
        "below resolution ({:.1f} us)", static_cast<double>(clocks.worst_uncertainty_ns()) / 1e3));
  }
}

CollectiveSummary summarize_collective(const store::CollectiveRecord& record, int ranks) {
  using Bandwidth = Measured<double>;
  CollectiveSummary summary;
  summary.record = record;
  if (record.transfer_ns <= 0 || record.bytes == 0) return summary;
  // Bytes a nanosecond are 1e9 bytes a second.
  const double algbw = static_cast<double>(record.bytes) / static_cast<double>(record.transfer_ns);
  summary.algbw_gb_per_s = algbw;
  try {
    summary.busbw_gb_per_s = ranks > 1 ? Bandwidth(algbw * bus_factor(record.function, ranks))
                                       : Bandwidth::missing("one rank uses no bus");
  } catch (const Error& error) {
    summary.busbw_gb_per_s = Bandwidth::missing(error.message());
  }
  return summary;
}

/// The mean over ranks of the loss at the first (or last) step for which all ranks have one.
Measured<double> mean_loss(const std::vector<store::StepRecord>& records, std::size_t ranks, bool first) {
  Measured<double> found = Measured<double>::missing("no loss recorded");
  for (std::size_t begin = 0, end = 0; begin < records.size(); begin = end) {
    double sum = 0;
    std::size_t with_loss = 0;
    for (end = begin; end < records.size() && records[end].step == records[begin].step; ++end) {
      if (std::isnan(records[end].loss)) continue;
      sum += records[end].loss;
      ++with_loss;
    }
    if (with_loss == 0 || with_loss != ranks) continue;
    found = std::isfinite(sum) ? Measured<double>(sum / static_cast<double>(ranks))
                               : Measured<double>::missing("the loss is not finite: training diverged");
    if (first) break;
  }
  return found;
}

/// A run that was cut off has steps before it has rank rows.
std::size_t rank_count(const RunSummary& summary) {
  return summary.ranks.empty() ? static_cast<std::size_t>(summary.run.run_case.world_size())
                               : summary.ranks.size();
}

/// Intervals are the dear part, and of a baseline nobody asks for them.
RunSummary summarize_alone(const store::RunStore& store, store::RunRecord run, bool with_intervals) {
  RunSummary summary;
  summary.run = std::move(run);
  store::close_abandoned(summary.run);
  const store::RunId& id = summary.run.id;
  summary.ranks = store.ranks(id);
  const std::size_t ranks = rank_count(summary);
  for (const store::RankRecord& rank : summary.ranks) summary.dropped_spans += rank.dropped_spans;
  const std::vector<store::StepRecord> records = store.steps(id);
  const std::vector<RunStep> steps = complete_steps(records, first_measured_step(summary.run), ranks);
  add_step_times(steps, with_intervals, summary);
  add_partition(records, steps, summary);
  summary.loss_first = mean_loss(records, ranks, true);
  summary.loss_last = mean_loss(records, ranks, false);
  for (const store::CollectiveRecord& record : store.collectives(id)) {
    summary.collectives.push_back(summarize_collective(record, summary.run.run_case.world_size()));
  }
  summary.kernels = store.kernels(id);
  const std::int64_t probed = std::int64_t{summary.probed_steps} * static_cast<std::int64_t>(ranks);
  summary.kernel_steps = std::max<std::int64_t>(0, probed - numeric_fact(summary.run, kFactReducedSteps));
  judge_peer_wait(summary);
  return summary;
}

void add_efficiency(const store::RunStore& store, RunSummary& summary) {
  std::optional<store::RunRecord> baseline;
  if (!summary.run.baseline_id.empty()) baseline = store.run(summary.run.baseline_id);
  if (baseline) {
    summary.efficiency = efficiency_against(summarize_alone(store, *std::move(baseline), false), summary);
  } else {
    summary.efficiency = Measured<Efficiency>::missing(reason_without_baseline(summary.run));
  }
}

}  // namespace

bool tells_manners(const RunSummary& summary) {
  return std::any_of(summary.collectives.begin(), summary.collectives.end(),
                     [](const CollectiveSummary& collective) { return !collective.record.manner.empty(); });
}

RunSummary summarize_briefly(const store::RunStore& store, store::RunRecord run) {
  return summarize_alone(store, std::move(run), false);
}

RunSummary summarize_for_list(const store::RunStore& store, store::RunRecord run) {
  RunSummary summary = summarize_briefly(store, std::move(run));
  add_efficiency(store, summary);
  return summary;
}

RunSummary summarize(const store::RunStore& store, const store::RunId& id) {
  std::optional<store::RunRecord> run = store.run(id);
  if (!run) throw Error(ErrorCode::kBadInput, fmt::format("run {} is not in {}", id, store.file().string()));
  RunSummary summary = summarize_alone(store, *std::move(run), true);
  add_efficiency(store, summary);
  summary.notes = notes_on(summary);
  return summary;
}

RunSummary summarize(const store::RunStore& store, const store::RunId& id, const SkuCatalogue& catalogue) {
  RunSummary summary = summarize(store, id);
  if (summary.samples_per_s)
    summary.utilisation = utilisation_of(summary.run, *summary.samples_per_s, catalogue);
  return summary;
}

}  // namespace ddbench::analyzer
