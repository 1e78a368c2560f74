#include "analyzer/diagnose/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyzer/diagnose/culprit.h"
#include "analyzer/diagnose/moving_imbalance.h"
#include "analyzer/diagnose/pauses.h"
#include "core/text/quantity.h"

namespace ddbench::analyzer {
namespace {

constexpr double kLostInHealthy = 0.10;
constexpr double kSteady = 0.5;  // the median step has so much of the mean excess: it is no pause
constexpr std::size_t kEvidence = 3;

Cause cause_of(OwnPart part) {
  switch (part) {
    case OwnPart::kCompute: return Cause::kSlowCompute;
    case OwnPart::kCpuWait: return Cause::kContention;
    case OwnPart::kDataWait: return Cause::kDataLoading;
    case OwnPart::kHost: return Cause::kHostGaps;
  }
  return Cause::kJitter;
}

/// Names the ranks: numbers, nodes, host.
void name_ranks(const WorkTable& table, const std::vector<std::size_t>& places, Diagnosis& diagnosis) {
  std::set<int> nodes;
  std::set<int> all_nodes;
  std::set<std::string> hosts;
  for (const std::size_t place : places) {
    diagnosis.ranks.push_back(table.ranks[place].rank);
    nodes.insert(table.ranks[place].node);
    hosts.insert(table.ranks[place].host);
  }
  std::size_t on_nodes = 0;
  for (const WorkRank& rank : table.ranks) {
    on_nodes += nodes.contains(rank.node);
    all_nodes.insert(rank.node);
  }
  diagnosis.nodes.assign(nodes.begin(), nodes.end());
  diagnosis.is_whole_node = on_nodes == places.size() && places.size() > 1 && all_nodes.size() > nodes.size();
  if (hosts.size() == 1) diagnosis.host = *hosts.begin();
}

void set_window(const WorkTable& table, StepWindowRows window, Diagnosis& diagnosis) {
  diagnosis.first_step = table.steps[window.first];
  diagnosis.last_step = table.steps[window.end - 1];
  diagnosis.from_begin = window.first == 0;
  diagnosis.to_end = window.end == table.step_count();
}

/// The steps with the largest excess of these ranks among the window's.
void add_evidence(const WorkTable& table, const std::vector<std::size_t>& places, std::vector<std::size_t> rows,
                  Diagnosis& diagnosis) {
  const std::size_t place = places.front();
  const std::vector<double> excess = excess_of(table, place);
  const std::size_t most = std::min(kEvidence, rows.size());
  std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(most), rows.end(),
                    [&](std::size_t a, std::size_t b) { return excess[a] > excess[b]; });
  rows.resize(most);
  for (const std::size_t row : rows) {
    const double own = table.own(row, place);
    diagnosis.evidence.push_back({table.ranks[place].rank, table.steps[row],
                                  fmt::format("own work {}, the others' {}", quantity(own, "ns"),
                                              quantity(own - excess[row], "ns"))});
  }
}

std::vector<std::size_t> rows_of(StepWindowRows window) {
  std::vector<std::size_t> rows;
  for (std::size_t row = window.first; row < window.end; ++row) rows.push_back(row);
  return rows;
}

void set_culprit(const WorkTable& table, const Culprit& culprit, Diagnosis& diagnosis) {
  diagnosis.cause = cause_of(culprit.part);
  name_ranks(table, culprit.ranks, diagnosis);
  set_window(table, culprit.window, diagnosis);
  diagnosis.slower = culprit.part_ratio > 1 ? culprit.part_ratio - 1 : 0;
  diagnosis.excess_ns = culprit.excess_ns;
  diagnosis.cost_share = culprit.cost_share;
  diagnosis.explained = culprit.explained;
  const bool sure = culprit.slowdown_low > 1.05 && culprit.window.size() >= 30 && culprit.part_share >= 0.8;
  diagnosis.confidence = fmt::format(
      "{}: over {} steps its own work is at least {:.0f}% longer than the others' (lower end of a 99.9% interval); "
      "{:.0f}% of the excess is of this kind",
      sure ? "high" : "medium", culprit.window.size(), 100 * (culprit.slowdown_low - 1), 100 * culprit.part_share);
  add_evidence(table, culprit.ranks, rows_of(culprit.window), diagnosis);
}

void set_pauses(const WorkTable& table, const Pauses& pauses, Diagnosis& diagnosis) {
  diagnosis.cause = Cause::kPauses;
  name_ranks(table, pauses.ranks, diagnosis);
  diagnosis.first_step = table.steps[pauses.rows.front()];
  diagnosis.last_step = table.steps[pauses.rows.back()];
  diagnosis.from_begin = pauses.rows.front() * 5 < table.step_count();
  diagnosis.to_end = pauses.rows.back() * 5 > table.step_count() * 4;
  diagnosis.pause_ns = pauses.length_ns;
  diagnosis.cost_share = pauses.cost_share;
  diagnosis.explained = pauses.explained;
  if (pauses.is_regular) diagnosis.period_steps = pauses.period_steps;
  diagnosis.confidence = fmt::format("{}: {} steps were held up, {}", pauses.rows.size() >= 8 ? "high" : "medium",
                                     pauses.rows.size() + pauses.unprobed, pauses.is_regular ? "at regular times" : "at no regular times");
  add_evidence(table, pauses.ranks, pauses.rows, diagnosis);
}

bool accuses(const Pauses& pauses) {
  const CulpritLimits limits;
  return pauses.cost_share >= limits.least_cost && pauses.explained >= limits.least_explained;
}

/// Steps that are attributed to no rank, because ranks were delayed inside collectives or while the probes
/// were off.
void look_at_held_up_steps(const WorkTable& table, Diagnosis& diagnosis) {
  const HeldUpSteps held = held_up_steps(table);
  constexpr std::size_t kSeveral = 3;
  if (held.count < kSeveral || held.cost_share < kLostInHealthy) return;
  diagnosis.cause = Cause::kJitter;
  diagnosis.pause_ns = held.length_ns;
  diagnosis.notes.push_back(fmt::format("{} steps were held up for {}, {:.0f}% of the time, and by which rank was not seen often enough: inside of "
                                        "collectives or with the probes off it cannot be",
                                        held.count, quantity(held.length_ns, "ns"), 100 * held.cost_share));
}

/// A rank that lacks a core inside collectives: the others wait there for its data, and its own work hardly
/// shows it.
bool look_for_starvation(const WorkTable& table, Diagnosis& diagnosis) {
  const WorkTable starved = with_starvation(table);
  const std::optional<Culprit> culprit = find_culprit(starved);
  if (!culprit || culprit->part != OwnPart::kCpuWait || culprit->typical_share < kSteady) return false;
  set_culprit(starved, *culprit, diagnosis);
  diagnosis.notes.push_back("own work here includes the wait for a core inside of collectives, in which the others wait for what it does not send");
  return true;
}

void judge(const WorkTable& table, Diagnosis& diagnosis) {
  const std::optional<Pauses> pauses = find_pauses(table);
  std::optional<Culprit> culprit = find_culprit(table);
  if (culprit && culprit->typical_share >= kSteady) return set_culprit(table, *culprit, diagnosis);
  if (look_for_starvation(table, diagnosis)) return;
  if (pauses && accuses(*pauses)) return set_pauses(table, *pauses, diagnosis);
  const MovingImbalance moving = moving_imbalance(table);
  diagnosis.lost_share = moving.lost_share;
  const bool contended = table.shares_cores && !table.delay_known && moving.part == OwnPart::kCompute;
  if (!contended && is_moving_imbalance(moving, table.rank_count())) {
    diagnosis.cause = Cause::kMovingImbalance;
    diagnosis.cost_share = moving.lost_share;
    diagnosis.explained = moving.part_share;
    diagnosis.operator_name = moving.part == OwnPart::kDataWait ? "data loading" : "compute";
    diagnosis.confidence = fmt::format("medium: the most frequent slowest rank was it in {:.0f}% of the steps", 100 * moving.most_often);
    return;
  }
  if (moving.lost_share >= kLostInHealthy) diagnosis.cause = Cause::kJitter;
  look_at_held_up_steps(table, diagnosis);
}

std::vector<std::string> checks_for(const Diagnosis& diagnosis) {
  switch (diagnosis.cause) {
    case Cause::kSlowCompute:
      return {"compare clocks, temperature and throttling of this device with the others' (`ddbench show`, nvidia-smi -q -d PERFORMANCE)",
              "if it has the same clock: does this rank get longer inputs than the others?"};
    case Cause::kContention:
      return {"look for other processes on its cores (`top`, `pidstat -u`), and pin the ranks to cores of their own"};
    case Cause::kDataLoading:
      return {"look at the loader of this rank: its storage, its number of workers, its files (--data-workers)"};
    case Cause::kHostGaps:
      return {"open these steps in the timeline: what does its main thread do between operators? (logging, checkpoints, garbage collection)"};
    case Cause::kPauses:
      return {"what happens at these times on this node: checkpoint writes, garbage collection, a cron job, a health check?"};
    case Cause::kLateStart: return {"what does this rank do before its first step: reading data, compiling, a cold cache?"};
    case Cause::kMovingImbalance:
      return {"share out work evenly: batches of equal length or cost (bucketing, packing), or fewer, larger micro-batches"};
    case Cause::kJitter:
      return {"pin ranks to cores, look for other load on the machines, and measure more steps"};
    case Cause::kSlowLink:
    case Cause::kSlowOperator:
    case Cause::kHealthy: break;
  }
  return {};
}

}  // namespace

std::string_view to_string(Cause cause) noexcept {
  switch (cause) {
    case Cause::kHealthy: return "healthy";
    case Cause::kSlowCompute: return "slow_compute";
    case Cause::kContention: return "contention";
    case Cause::kDataLoading: return "data_loading";
    case Cause::kHostGaps: return "host_gaps";
    case Cause::kPauses: return "pauses";
    case Cause::kLateStart: return "late_start";
    case Cause::kMovingImbalance: return "moving_imbalance";
    case Cause::kSlowLink: return "slow_link";
    case Cause::kSlowOperator: return "slow_operator";
    case Cause::kJitter: return "jitter";
  }
  return "healthy";
}

Measured<Diagnosis> diagnose(const WorkTable& table) {
  using Result = Measured<Diagnosis>;
  if (table.rank_count() < 2) return Result::missing("single rank: nobody waits for it");
  const CulpritLimits limits;
  if (table.step_count() < limits.least_steps) {
    return Result::missing(fmt::format("{} measured steps with the probes on, on all ranks; a diagnosis needs {}",
                                       table.step_count(), limits.least_steps));
  }
  Diagnosis diagnosis;
  diagnosis.steps = static_cast<int>(table.step_count());
  set_window(table, {0, table.step_count()}, diagnosis);
  double step_ns = 0;
  for (const double each : table.step_ns) step_ns += each / static_cast<double>(table.step_count());
  judge(table, diagnosis);
  diagnosis.lost_share = lost_to_waiting_ns(table, {0, table.step_count()}, 1) / std::max(step_ns, 1.0);
  diagnosis.next_checks = checks_for(diagnosis);
  return diagnosis;
}

}  // namespace ddbench::analyzer
