#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "analyzer/run/contention.h"
#include "core/facts/facts.h"
#include "core/run_case/program_case.h"
#include "core/text/quantity.h"
#include "reports/tables/end_of_steps.h"
#include "reports/tables/run_content.h"
#include "reports/text/phrases.h"

namespace ddbench::reports {
namespace {

using analyzer::Efficiency;
using analyzer::RunSummary;
using store::RunState;
using store::StepPart;

constexpr const char* kInvalid = "INVALID, do not use these figures: ";

Tile efficiency_tile(const RunSummary& summary) {
  if (!summary.efficiency) return {"efficiency", "not known", summary.efficiency.reason(), CellTone::kFaint};
  const Efficiency& efficiency = *summary.efficiency;
  const double base = efficiency.baseline.run_case.world_size();
  return {"efficiency", percent_in_words(efficiency.value),
          fmt::format("speedup {} of {}, against {}; {}", number(efficiency.speedup),
                      number(summary.run.run_case.world_size() / base), gpus_in_words(static_cast<int>(base)),
                      efficiency_interval_in_words(efficiency)),
          efficiency_tone(efficiency.value)};
}

Tile lost_tile(const RunSummary& summary) {
  const Efficiency& efficiency = *summary.efficiency;
  const double step_ns = static_cast<double>(std::max<std::int64_t>(summary.partition.total_ns(), 1));
  return {
      efficiency.lost_ns < 0 ? "won per step" : "lost per step",
      time_in_words(std::abs(static_cast<double>(efficiency.lost_ns))),
      percent_in_words(std::abs(static_cast<double>(efficiency.lost_ns)) / step_ns) + " of the step time"};
}

Tile step_tile(const RunSummary& summary) {
  if (!summary.step_time_ns)
    return {"step time", "not known", summary.step_time_ns.reason(), CellTone::kFaint};
  const analyzer::Quantity& step = *summary.step_time_ns;
  const auto& interval = step.interval;
  return {"step time", time_in_words(step.value),
          interval ? fmt::format("{:.0f}% CI {} to {}", 100 * interval->level, time_in_words(interval->low),
                                 time_in_words(interval->high))
                   : "no interval: " + interval.reason()};
}

Tile throughput_tile(const RunSummary& summary) {
  const ThroughputInWords words = throughput_in_words(summary);
  return {"throughput", words.value, words.detail,
          summary.work_per_s ? CellTone::kPlain : CellTone::kFaint};
}

Tile exposed_tile(const RunSummary& summary) {
  const auto& exposed_ns = summary.exposed_communication_ns;
  if (!exposed_ns) return {"exposed communication", "not known", exposed_ns.reason(), CellTone::kFaint};
  const double step_ns = static_cast<double>(summary.partition.total_ns());
  const auto time = [](std::int64_t value_ns) { return time_in_words(static_cast<double>(value_ns)); };
  return {"exposed communication", percent_in_words(static_cast<double>(*exposed_ns) / step_ns),
          fmt::format("{} a step; {} hidden behind compute", time(*exposed_ns), time(*summary.overlap_ns))};
}

Tile memory_tile(const RunSummary& summary) {
  std::int64_t most = 0;
  int rank = 0;
  for (const store::RankRecord& record : summary.ranks) {
    if (record.peak_memory_bytes <= most) continue;
    most = record.peak_memory_bytes;
    rank = record.rank;
  }
  return {"host memory", most == 0 ? "not known" : quantity(static_cast<double>(most), "B"),
          most == 0 ? "no rank reported it" : fmt::format("peak of one rank (rank {})", rank),
          most == 0 ? CellTone::kFaint : CellTone::kPlain};
}

StepPart largest_of(const RunSummary& summary) {
  const auto& parts = summary.partition.ns;
  return static_cast<StepPart>(std::max_element(parts.begin(), parts.end()) - parts.begin());
}

/// Only where a device has memory of its own.
void add_device_memory(const RunSummary& summary, std::vector<Tile>& tiles) {
  const Measured<double> peak = analyzer::device_peak_bytes(summary.run);
  if (!peak || summary.run.run_case.on_cpu()) return;
  tiles.push_back({"GPU memory", quantity(*peak, "B"),
                   analyzer::device_memory_of(summary.run) ? "peak of one rank's allocator" : "peak of one GPU, by NVML"});
}

/// Parts of the waterfall, the largest loss first.
std::array<std::size_t, store::kStepPartCount> by_loss(const store::StepPartition& waterfall) {
  std::array<std::size_t, store::kStepPartCount> order{};
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return waterfall.ns[a] > waterfall.ns[b]; });
  return order;
}

}  // namespace

ThroughputInWords throughput_in_words(const RunSummary& summary) {
  const std::string steps = gives_one_mean(summary) ? std::string(analyzer::kOneMean) : count_in_words(summary.measured_steps) + " measured steps";
  if (!summary.samples_per_s && summary.step_time_ns) {
    return {number(1e9 / summary.step_time_ns->value, 4) + " steps/s",
            fmt::format("{}; {}", steps, summary.samples_per_s.reason())};
  }
  if (!summary.samples_per_s) return {"not known", summary.samples_per_s.reason()};
  if (!summary.samples_per_step) return {number(*summary.samples_per_s, 4) + " samples/s", "as stated; " + summary.samples_per_step.reason()};
  const std::string rate = number(*summary.samples_per_s, 4) + " samples/s";
  if (has_fact(summary.run.environment.facts, fact_key<"import.samples_per_step">))
    return {rate, fmt::format("{} samples a step, by its step time and throughput; {}", number(*summary.samples_per_step, 4), steps)};
  const bool is_seen = !has_known_batch(summary.run.run_case);
  return {rate, fmt::format("global batch {}{}, {}", count_in_words(std::llround(*summary.samples_per_step)),
                            is_seen ? " (seen in its DataLoader)" : "", steps)};
}

std::string efficiency_interval_in_words(const Efficiency& efficiency) {
  const auto& interval = efficiency.interval;
  if (!interval) return "no interval: " + interval.reason();
  return fmt::format("{:.0f}% CI {} to {}, {}", 100 * interval->level, percent_in_words(interval->low),
                     percent_in_words(interval->high), interval->method);
}

std::string end_in_words(const analyzer::RunSummary& summary) {
  const auto end = end_of_steps(summary);
  if (!end) return {};
  const auto percent = [](double share) { return uncertainty(100 * share) + "%"; };
  std::string text = fmt::format("stopped {}after {} steps: ", end->by_margin ? "" : "at --max-time ",
                                 count_in_words(summary.measured_steps));
  text += end->half_width ? fmt::format("half-width {}", percent(*end->half_width))
                          : "no interval: " + end->half_width.reason();
  text += fmt::format(" (goal {:.3g}%)", 100 * end->goal);
  const auto& probes = end->probe_half_width;
  if (!end->by_margin && probes && *probes > EndOfSteps::kProbeGoal) {
    text += fmt::format("; that of the probes' cost {} of a step (goal {:.3g}%)", percent(*probes),
                        100 * EndOfSteps::kProbeGoal);
  }
  if (end->waits > 0) {
    text += fmt::format("; {} wait{} of ranks for the launcher in it, {}", end->waits,
                        end->waits == 1 ? "" : "s", time_in_words(static_cast<double>(end->wait_ns)));
  }
  return text;
}

std::string outliers_in_words(const analyzer::StepDistribution& steps) {
  if (steps.outliers == 0) return {};
  return fmt::format("{} of the time was lost in {} of the steps ({} outlier{})",
                     percent_in_words(steps.lost_share), percent_in_words(steps.outlier_share),
                     steps.outliers, steps.outliers == 1 ? "" : "s");
}

std::string run_title(const RunSummary& summary) {
  const RunCase& run_case = summary.run.run_case;
  if (!run_case.name.empty()) return run_case.name;
  return fmt::format("{} on {}", work_in_words(run_case), shape_in_words(run_case));
}

std::string run_subtitle(const RunSummary& summary) {
  const RunCase& run_case = summary.run.run_case;
  std::string text = fmt::format("{} · {}", work_in_words(run_case), shape_in_words(run_case));
  for (const std::string& part : {scaling_in_words(run_case), run_case.device, run_case.backend,
                                  run_case.strategy, run_case.precision}) {
    if (!part.empty()) text += " · " + part;
  }
  const std::string& network = summary.run.environment.network;
  return network.empty() ? text : text + " · network " + network;
}

std::vector<std::string> run_alarms(const RunSummary& summary) {
  std::vector<std::string> alarms;
  const std::string reason = summary.run.reason.empty() ? "" : ": " + summary.run.reason;
  switch (summary.run.state) {
    case RunState::kDone: break;
    case RunState::kRunning: alarms.push_back("STILL RUNNING" + reason); break;
    case RunState::kFailed: alarms.push_back("FAILED" + reason); break;
    case RunState::kInterrupted: alarms.push_back("INTERRUPTED" + reason); break;
    case RunState::kPreempted: alarms.push_back("PREEMPTED" + reason); break;
  }
  if (!summary.run.valid) alarms.push_back(kInvalid + summary.run.invalid_reason);
  return alarms;
}

std::vector<std::string> run_notes(const RunSummary& summary) {
  std::vector<std::string> notes;
  for (const std::string& note : summary.notes) {
    if (note.rfind("INVALID", 0) != 0) notes.push_back(note);
  }
  return notes;
}

std::vector<Tile> run_tiles(const RunSummary& summary) {
  std::vector<Tile> tiles = {efficiency_tile(summary)};
  if (summary.efficiency) tiles.push_back(lost_tile(summary));
  tiles.push_back(step_tile(summary));
  tiles.push_back(throughput_tile(summary));
  if (summary.run.run_case.world_size() > 1 && summary.partition.total_ns() > 0)
    tiles.push_back(exposed_tile(summary));
  tiles.push_back(memory_tile(summary));
  add_device_memory(summary, tiles);
  return tiles;
}

std::string largest_part(const RunSummary& summary) {
  const std::int64_t total_ns = summary.partition.total_ns();
  if (total_ns <= 0 || !summary.run.valid) return {};
  const StepPart largest = largest_of(summary);
  const auto part_ns = static_cast<double>(summary.partition[largest]);
  return fmt::format("the largest part of the step is {}, {} ({})", part_in_words(largest), time_in_words(part_ns),
                     percent_in_words(part_ns / static_cast<double>(total_ns)));
}

std::string where_lost(const RunSummary& summary) {
  const Efficiency& efficiency = *summary.efficiency;
  const std::string lost = time_in_words(std::abs(static_cast<double>(efficiency.lost_ns)));
  const std::string step = time_in_words(static_cast<double>(summary.partition.total_ns()));
  if (efficiency.lost_ns <= 0)
    return fmt::format("nothing lost against {}: a step of {} is {} shorter than the ideal; {}",
                       gpus_in_words(efficiency.baseline.run_case.world_size()), step, lost, largest_part(summary));
  if (const std::vector<std::string> overload = analyzer::overload_of(summary); !overload.empty()) {
    return fmt::format(
        "lost {} of a step of {}; the machine was overloaded: {}. That explains any part of "
        "the loss, so no other cause is named; {}",
        lost, step, fmt::join(overload, ", "), largest_part(summary));
  }
  std::string most;
  const auto order = by_loss(efficiency.waterfall);
  for (std::size_t i = 0; i < 3 && efficiency.waterfall.ns[order[i]] > 0; ++i) {
    most += fmt::format("{}{} {}", i == 0 ? "" : ", ", part_in_words(static_cast<StepPart>(order[i])),
                        time_in_words(static_cast<double>(efficiency.waterfall.ns[order[i]])));
  }
  std::int64_t won_ns = 0;
  for (const std::int64_t part_ns : efficiency.waterfall.ns) won_ns -= std::min<std::int64_t>(part_ns, 0);
  const std::string won =
      won_ns > 0 ? fmt::format("; {} gained in other parts", time_in_words(static_cast<double>(won_ns))) : "";
  const std::string waits = largest_of(summary) <= StepPart::kOtherCompute ? "" : "; " + largest_part(summary);
  return fmt::format("lost {} of a step of {}, most of it to {}{}{}", lost, step, most, won, waits);
}

bool applies_learning_rate(const RunSummary& summary) {
  const store::RunRecord& run = summary.run;
  return is_training(run.run_case) && !is_program(run.run_case) && !run.provenance.has(Provenance::kImported);
}

std::string run_verdict(const RunSummary& summary) {
  std::string text =
      summary.efficiency ? where_lost(summary) : "efficiency not known: " + summary.efficiency.reason();
  if (const std::string part = largest_part(summary); !summary.efficiency && !part.empty()) text += "; " + part;
  return sentence(std::move(text));
}

}  // namespace ddbench::reports
