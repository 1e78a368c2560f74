#include "analyzer/run/run_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "analyzer/catalogue/rated_link.h"
#include "analyzer/clocks/clock_alignment.h"
#include "analyzer/rate/run_partition.h"
#include "analyzer/run/applied_rate.h"
#include "analyzer/run/case_figures.h"
#include "analyzer/run/caveats.h"
#include "analyzer/run/contention.h"
#include "analyzer/run/step_series.h"
#include "analyzer/store/rows/abandoned.h"
#include "core/error.h"
#include "core/facts/facts.h"
#include "core/run_case/program_case.h"
#include "core/run_case/step_facts.h"
#include "core/span_limits.h"

namespace ddbench::analyzer {
namespace {

/// Percent of a step. Below, probe-off steps were slower, and something else than the probes differs.
constexpr double kLowestProbeCost = -1;

/// A run that was cut off has steps but no rank rows yet.
std::size_t rank_count(const RunSummary& summary) {
  return summary.ranks.empty() ? static_cast<std::size_t>(summary.run.run_case.world_size())
                               : summary.ranks.size();
}

Measured<StepDistribution> distribution_of(const StepRate& rate, const RunSummary& summary) {
  using Distribution = Measured<StepDistribution>;
  const store::RunRecord& run = summary.run;
  if (run.provenance.has(Provenance::kImported) && summary.probed_steps == 0) {  // traces have single steps
    if (rate.steps == 1) return Distribution::missing(kOneMean);
    const std::int64_t steps = get_fact(run.environment.facts, fact_key<"import.mean_of_steps">).value_or(1);
    if (steps > 1) return Distribution::missing(fmt::format("the source gives means of {} steps", steps));
  }
  StepDistribution distribution = rate.distribution;
  const int ranks = run.run_case.world_size();
  if (ranks > 1 && rank_count(summary) == 1) distribution.skew_ns = Measured<double>::missing(fmt::format("only 1 of {} ranks was recorded", ranks));
  return distribution;
}

/// Of an imported throughput without a batch: its stored step only stands for the throughput (analyzer/import/table), to a nanosecond.
void leave_out_step(const StepRate& rate, RunSummary& summary) {
  constexpr const char* kReason = "the imported source states a throughput and no batch in its unit: how long a step takes is not known "
                                  "(gate and history: --metric throughput)";
  const auto stated = get_fact(summary.run.environment.facts, fact_key<"import.samples_per_s">);
  summary.samples_per_s = stated ? *stated : rate.samples_per_s(static_cast<double>(summary.run.run_case.global_batch()));
  summary.step_time_ns = Measured<Quantity>::missing(kReason);
  summary.independent_steps = Measured<double>::missing(kReason);
}

void add_rate(const Measured<StepRate>& rate, RunSummary& summary) {
  summary.samples_per_step = samples_per_step(summary.run);
  if (!rate) {
    summary.step_time_ns = Measured<Quantity>::missing(rate.reason());
    summary.samples_per_s = summary.work_per_s = summary.independent_steps = Measured<double>::missing(rate.reason());
    summary.distribution = Measured<StepDistribution>::missing(rate.reason());
    return;
  }
  summary.step_time_ns = rate->step_time_ns;
  summary.independent_steps = rate->independent_steps;
  const Measured<double>& samples = summary.samples_per_step;
  summary.samples_per_s = samples ? Measured<double>(rate->samples_per_s(*samples))
                                  : Measured<double>::missing(samples.reason());
  if (has_fact(summary.run.environment.facts, fact_key<"import.step_time">)) leave_out_step(*rate, summary);
  summary.work_per_s = summary.samples_per_s ? summary.samples_per_s
                                             : Measured<double>(rate->samples_per_s(summary.run.run_case.world_size()));
  for (Measured<double>* const per_s : {&summary.samples_per_s, &summary.work_per_s}) {
    if (*per_s && !(std::isfinite(**per_s) && **per_s > 0)) *per_s = Measured<double>::missing("it is no finite number above 0");
  }
  summary.distribution = distribution_of(*rate, summary);
  if (gives_one_mean(summary) && summary.step_time_ns)
    summary.step_time_ns = Quantity{rate->step_time_ns.value, Measured<ConfidenceInterval>::missing(kOneMean)};
  summary.left_out_ns = rate->left_out_ns;
  summary.clocks_known = rate->clocks_known;
}

void add_partition(const RunPartition& partition, RunSummary& summary) {
  summary.partition = partition.parts;
  summary.communication_ns = partition.communication_ns;
  summary.peer_wait_ns = partition.peer_wait_ns;
  summary.peer_wait_uncertainty_ns = partition.peer_wait_uncertainty_ns;
  const std::int64_t exposed_ns = summary.partition.exposed_communication_ns();
  if (is_program(summary.run.run_case) && summary.partition.compute_ns() == 0 && exposed_ns > 0) {
    constexpr const char* kUnknown =
        "nothing that the program computed was recorded, which may have hidden it";
    summary.exposed_communication_ns = summary.overlap_ns = Measured<std::int64_t>::missing(kUnknown);
    summary.overlap_interval = Measured<ConfidenceInterval>::missing(kUnknown);
  } else {
    summary.exposed_communication_ns = exposed_ns;
    summary.overlap_ns = partition.overlap_ns;
    summary.overlap_interval = partition.overlap_interval;
  }
}

/// What probe-off steps show of the probes' cost, or why they show nothing.
Measured<Estimate> judged_probe_cost(const MeasuredSteps& measured, const store::RunRecord& run) {
  if (run.provenance.has(Provenance::kImported)) return Measured<Estimate>::missing("ddbench did not record this run");
  if (get_fact(run.environment.facts, fact_key<"cupti.filtered_windows">).value_or(0) > 0)
    return Measured<Estimate>::missing("this CUPTI has to go on recording in probe-off steps, because of CUDA graphs");
  const Measured<Estimate> cost = probe_overhead_percent(measured.steps);
  if (cost && cost->interval.high < kLowestProbeCost)
    return Measured<Estimate>::missing(fmt::format("probe-off steps took longer than their neighbours, by {:.1f}% or more", -cost->interval.high));
  return cost;
}

Measured<StepRate> rate_of(const MeasuredSteps& measured, bool with_interval, const store::RunRecord& run) {
  const int first = first_own_step(run.environment.facts);
  if (measured.steps.empty() && first > 0 && first >= run.run_case.total_steps())
    return Measured<StepRate>::missing("it continued another run that had done all its steps");
  if (measured.steps.empty() && first > 0)
    return Measured<StepRate>::missing("it continued another run, and the steps that were left are its warm-up (--warmup)");
  return step_rate(measured, with_interval);
}

void add_steps(const std::vector<store::StepRecord>& records, const MeasuredSteps& measured,
               bool with_intervals, RunSummary& summary) {
  summary.measured_steps = static_cast<int>(measured.steps.size());
  for (const RunStep& step : measured.steps) summary.probed_steps += step.probes_on;
  if (summary.run.provenance.has(Provenance::kImported) || (with_intervals && !measured.steps.empty()))
    summary.probe_overhead_percent = judged_probe_cost(measured, summary.run);
  const Measured<StepRate> rate = rate_of(measured, with_intervals, summary.run);
  add_rate(rate, summary);
  if (!rate) return;
  if (const auto partition = run_partition(records, measured, *rate, with_intervals))
    add_partition(*partition, summary);
}

std::int64_t worst_wait_uncertainty_ns(const RunSummary& summary) {
  std::int64_t worst_ns = 0;
  for (const CollectiveSummary& collective : summary.collectives)
    worst_ns = std::max(worst_ns, collective.record.peer_wait_uncertainty_ns);
  return worst_ns;
}

/// Replaces the mean by a reason if the mean is not meaningful.
void judge_peer_wait(RunSummary& summary) {
  using Wait = Measured<std::int64_t>;
  const ClockAlignment clocks(summary.ranks);
  bool resolved = false;
  for (const CollectiveSummary& collective : summary.collectives)
    resolved |= collective.record.peer_wait_resolved;
  if (summary.run.run_case.world_size() == 1) {
    summary.peer_wait_ns = Wait::missing("single rank: no peer wait");
  } else if (!is_training(summary.run.run_case)) {
    summary.peer_wait_ns = Wait::missing(kNoArrivals);
  } else if (summary.collectives.empty()) {
    summary.peer_wait_ns = Wait::missing("no collectives");
  } else if (!clocks.known()) {
    summary.peer_wait_ns = Wait::missing("the clocks of the ranks were not compared");
  } else if (!resolved) {
    summary.peer_wait_ns = Wait::missing(fmt::format(
        "below clock resolution ({:.1f} us)", static_cast<double>(worst_wait_uncertainty_ns(summary)) / 1e3));
  }
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

/// Intervals are expensive, and nobody needs those of a baseline.
RunSummary summarize_rows(store::RunRecord run, store::RunRows rows, bool with_intervals) {
  RunSummary summary;
  summary.run = std::move(run);
  store::close_abandoned(summary.run);
  summary.ranks = std::move(rows.ranks);
  const std::size_t ranks = rank_count(summary);
  for (const store::RankRecord& rank : summary.ranks) summary.dropped_spans += rank.dropped_spans;
  const std::vector<store::StepRecord>& records = rows.steps;
  const MeasuredSteps measured =
      measured_steps(records, first_measured_step(summary.run.run_case, summary.run.environment.facts), summary.ranks, ranks);
  add_steps(records, measured, with_intervals, summary);
  add_contention(summary);
  summary.loss_first = mean_loss(records, ranks, true);
  summary.loss_last = mean_loss(records, ranks, false);
  for (const store::CollectiveRecord& record : rows.collectives) {
    summary.collectives.push_back(summarize_collective(record, summary.run));
  }
  summary.kernels = std::move(rows.kernels);
  const std::int64_t probed = std::int64_t{summary.probed_steps} * static_cast<std::int64_t>(ranks);
  summary.kernel_steps = std::max<std::int64_t>(
      0, probed - get_fact(summary.run.environment.facts, fact_key<"analysis.reduced_steps">).value_or(0));
  judge_peer_wait(summary);
  return summary;
}

RunSummary summarize_alone(const store::RunStore& store, store::RunRecord run, bool with_intervals) {
  store::RunRows rows = std::move(store.rows(std::vector{run.id}).front());
  return summarize_rows(std::move(run), std::move(rows), with_intervals);
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

bool gives_one_mean(const RunSummary& summary) { return summary.distribution.reason() == kOneMean; }

bool has_nccl_settings(const RunSummary& summary) {
  return std::any_of(summary.collectives.begin(), summary.collectives.end(),
                     [](const CollectiveSummary& collective) { return !collective.record.nccl_algorithm.empty(); });
}

bool names_communicators(const RunSummary& summary) {
  return std::any_of(summary.collectives.begin(), summary.collectives.end(),
                     [](const CollectiveSummary& collective) { return !collective.communicator.empty(); });
}

Measured<double> samples_per_step(const store::RunRecord& run) {
  if (has_known_batch(run.run_case)) return static_cast<double>(run.run_case.global_batch());
  const Facts& facts = run.environment.facts;
  for (const auto& seen : {get_fact(facts, fact_key<"program.samples_per_step">), get_fact(facts, fact_key<"import.samples_per_step">)}) {
    if (seen && *seen > 0) return *seen;
  }
  if (run.provenance.has(Provenance::kImported)) return Measured<double>::missing("the imported source states no batch in the unit of its throughput");
  return Measured<double>::missing("how many samples a step has is not known: --batch-per-gpu states it");
}

RunSummary summarize_rows(store::RunRecord run, store::RunRows rows) {
  return summarize_rows(std::move(run), std::move(rows), false);
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
  summary.learning_rates = recorded_learning_rates(store, summary.run);
  add_efficiency(store, summary);
  summary.notes = notes_on(summary);
  return summary;
}

namespace {

/// The collective of all ranks that comes closest to what the catalogue says of the network.
void note_rated_link(const SkuCatalogue& catalogue, RunSummary& summary) {
  const auto link = rated_link(summary.run, catalogue);
  if (!link) return;
  const CollectiveSummary* best = nullptr;
  for (const CollectiveSummary& collective : summary.collectives) {
    if (!collective.busbw_gb_per_s || !collective.communicator.empty()) continue;
    if (!share_of_link(collective.record.function, *collective.busbw_gb_per_s, *link)) continue;
    if (best == nullptr || *collective.busbw_gb_per_s > *best->busbw_gb_per_s) best = &collective;
  }
  if (best == nullptr) return;
  summary.notes.push_back(achieved_in_words(best->record.function, static_cast<double>(best->record.bytes), *best->busbw_gb_per_s, *link));
}

}  // namespace

RunSummary summarize(const store::RunStore& store, const store::RunId& id, const SkuCatalogue& catalogue) {
  RunSummary summary = summarize(store, id);
  if (summary.samples_per_s)
    summary.utilisation = utilisation_of(summary.run, summary.ranks, *summary.samples_per_s, catalogue);
  note_rated_link(catalogue, summary);
  return summary;
}

}  // namespace ddbench::analyzer
