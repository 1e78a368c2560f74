#include "analyzer/diagnose/common_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyzer/diagnose/operators/operator_change.h"
#include "analyzer/diagnose/slow_everywhere.h"
#include "analyzer/statistics/statistics.h"
#include "core/error.h"
#include "core/run_case/case_diff.h"
#include "core/run_case/program_case.h"
#include "core/text/quantity.h"

namespace ddbench::analyzer {
namespace {

constexpr double kLeastCommonCost = 0.10;
constexpr double kMuchCommunication = 0.20;  // of the step, exposed
constexpr std::size_t kMostStepsRead = 24;       // whose spans are read
constexpr std::size_t kMostRanksRead = 8;
constexpr double kHasAlone = 0.8;   // share of the increase of all operators
constexpr double kLikeIt = 0.5;  // of its slowdown: then the others are slower, too

/// Mean of a step in steps [first, last].
double mean_in(const WorkTable& table, const std::vector<double>& values, std::uint32_t first, std::uint32_t last) {
  double sum = 0;
  double count = 0;
  for (std::size_t row = 0; row < table.step_count(); ++row) {
    if (table.steps[row] < first || table.steps[row] > last) continue;
    sum += values[row];
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

/// What is about the run as a whole stays.
Diagnosis new_diagnosis(Diagnosis before, Cause cause) {
  Diagnosis diagnosis;
  diagnosis.cause = cause;
  diagnosis.steps = before.steps;
  diagnosis.lost_share = before.lost_share;
  diagnosis.first_step = before.first_step;
  diagnosis.last_step = before.last_step;
  return diagnosis;
}

bool gives_way(const Diagnosis& diagnosis, double cost_share) {
  return cost_share >= kLeastCommonCost && (!is_accusation(diagnosis.cause) || diagnosis.cost_share < cost_share);
}

std::string rate_in_words(double bytes_per_ns) { return fmt::format("{:.3g} GB/s", bytes_per_ns); }

void set_link(const WorkTable& table, const LinkTable& links, const SlowLink& link, double cost_share, Diagnosis& diagnosis) {
  diagnosis = new_diagnosis(std::move(diagnosis), Cause::kSlowLink);
  diagnosis.link = link;
  diagnosis.nodes = {link.node};
  if (link.kind != SlowLink::Kind::kNode) diagnosis.nodes = {std::min(link.node, link.to_node), std::max(link.node, link.to_node)};
  diagnosis.from_begin = link.first == 0;
  diagnosis.to_end = link.end == links.ends.size();
  diagnosis.first_step = diagnosis.from_begin ? table.steps.front() : link.first_step;
  diagnosis.last_step = link.last_step;
  diagnosis.cost_share = cost_share;
  diagnosis.explained = 1;
  diagnosis.slower = link.ratio > 0 ? 1 / link.ratio - 1 : 0;
  diagnosis.excess_ns = link.excess_ns;
  diagnosis.confidence = fmt::format(
      "{}: {} while it is busy, the others {}; of {} stretches between readings four in five were slow", link.ratio < 0.6 ? "high" : "medium",
      rate_in_words(link.rate), rate_in_words(link.others_rate), link.end - link.first);
  for (const WorkRank& rank : table.ranks) {
    if (rank.node != link.node || diagnosis.evidence.size() == 1) continue;
    diagnosis.evidence.push_back({rank.rank, link.last_step, fmt::format("its collectives wait for this link: {} a step longer",
                                                                         quantity(link.excess_ns, "ns"))});
  }
  diagnosis.next_checks = {"compare the port's rate and errors with the others' (`ethtool`, `ip -s link`, `ibstat`), and its cable and switch port",
                           "measure it alone: `ddbench micro` on this node and one other, then on two others"};
}

std::string why_not_located(const LinkTable& links, const std::vector<LinkUse>& uses, bool of_program) {
  if (uses.empty() && of_program)
    return "whether a link is slow is not known: what each connection of a program carries (its own Gloo, MPI, NCCL) is not recorded, and in a "
           "ring all ranks wait alike; run `ddbench micro` on pairs of nodes";
  if (uses.empty())
    return "whether a link is slow cannot be located from this recording, which lacks what each connection carried; run "
           "`ddbench micro` on pairs of nodes";
  if (links.directions.size() <= 2)
    return "whether the link is slow cannot be located from this recording: it has no third one to compare with; run `ddbench micro` "
           "and compare with the link's rating";
  return "no link is slower than the others all the time: the network holds all of them up alike";
}

std::vector<std::uint32_t> some_of(std::span<const std::uint32_t> steps) {
  std::vector<std::uint32_t> some;
  const std::size_t stride = std::max<std::size_t>(1, (steps.size() + kMostStepsRead - 1) / kMostStepsRead);
  for (std::size_t i = 0; i < steps.size(); i += stride) some.push_back(steps[i]);
  return some;
}

std::vector<int> some_ranks(const WorkTable& table) {
  std::vector<int> ranks;
  const std::size_t stride = std::max<std::size_t>(1, (table.rank_count() + kMostRanksRead - 1) / kMostRanksRead);
  for (std::size_t i = 0; i < table.rank_count(); i += stride) ranks.push_back(table.ranks[i].rank);
  return ranks;
}

/// The change is in one operator, not in all of them equally.
bool stands_alone(const OperatorChange& change) {
  const bool others_too = change.slower > 0 && change.others_slower > kLikeIt * change.slower;
  return change.share >= kHasAlone && !others_too;
}

void set_operator(const OperatorChange& change, Diagnosis& diagnosis, double cost_share) {
  diagnosis = new_diagnosis(std::move(diagnosis), Cause::kSlowOperator);
  diagnosis.operator_name = change.name;
  diagnosis.operator_share = change.share;
  diagnosis.slower = change.slower;
  diagnosis.excess_ns = change.excess_ns;
  diagnosis.cost_share = cost_share;
  diagnosis.explained = change.share;
  diagnosis.next_checks = {
      "what changed: its shapes (sequence length, batch), its version or algorithm (an update, autotuning), or what it reads?"};
}

std::string of_all_operators(double excess_ns, const OperatorChange& change) {
  return fmt::format("all ranks compute {} a step longer, and no single operator explains it ({} has {:.0f}%): clocks, throttling or other load",
                     quantity(excess_ns, "ns"), change.name, 100 * change.share);
}

}  // namespace

void look_for_slow_link(const store::RunStore& store, const store::RunId& run, const WorkTable& table, Diagnosis& diagnosis) {
  const std::vector<store::RankRecord> ranks = store.ranks(run);
  const bool one_node = std::all_of(ranks.begin(), ranks.end(), [&](const auto& rank) { return rank.node == ranks.front().node; });
  if (one_node || table.steps.empty()) return;
  const std::vector<LinkUse> uses = link_uses(store, run, ranks);
  const LinkTable links = link_table(uses);
  if (const auto link = find_slow_link(links)) {
    const double exposed_ns = mean_in(table, table.exposed_ns, link->first_step, link->last_step);
    const double step_ns = mean_in(table, table.step_ns, link->first_step, link->last_step);
    const double cost_share = std::min(link->excess_ns, exposed_ns) / std::max(step_ns, 1.0);
    if (gives_way(diagnosis, cost_share)) return set_link(table, links, *link, cost_share, diagnosis);
  }
  if (is_accusation(diagnosis.cause)) return;
  if (mean(table.exposed_ns) >= kMuchCommunication * mean(table.step_ns)) {
    const auto of = store.run(run);
    diagnosis.notes.push_back(why_not_located(links, uses, of && is_program(of->run_case)));
  }
}

void look_for_slow_operator(const store::RunStore& store, const store::RunId& run, const WorkTable& table, Diagnosis& diagnosis) {
  const auto slow = find_slow_everywhere(table);
  if (!slow || !gives_way(diagnosis, slow->cost_share)) return;
  const std::span<const std::uint32_t> steps(table.steps);
  const std::vector<int> ranks = some_ranks(table);
  const auto change = find_operator_change(store, {run, ranks, some_of(steps.subspan(slow->before.first, slow->before.size()))},
                                           {run, ranks, some_of(steps.subspan(slow->window.first, slow->window.size()))});
  if (!change) return;
  if (!stands_alone(*change)) return diagnosis.notes.push_back(of_all_operators(slow->excess_ns, *change));
  set_operator(*change, diagnosis, slow->cost_share);
  diagnosis.first_step = table.steps[slow->window.first];
  diagnosis.last_step = table.steps[slow->window.end - 1];
  diagnosis.from_begin = false;
  diagnosis.to_end = slow->window.end == table.step_count();
  diagnosis.evidence = {{ranks.front(), diagnosis.first_step, "the first step in which it takes longer"},
                        {ranks.front(), table.steps[slow->before.end / 2], "a step before"}};
  diagnosis.confidence =
      fmt::format("{}: all ranks compute at least {:.0f}% longer than before (lower end of a 99.9% interval); this operator has {:.0f}% of it",
                  slow->slowdown_low > 1.05 && slow->window.size() >= 30 ? "high" : "medium", 100 * (slow->slowdown_low - 1),
                  100 * change->share);
}

void compare_operators(const store::RunStore& store, const store::RunRecord& run, const store::RunRecord& reference,
                       const WorkTable& table, Diagnosis& diagnosis) {
  for (const FieldDifference& difference : case_diff(reference.run_case, run.run_case)) {
    if (difference.role != FieldRole::kIdentity) continue;
    throw Error(ErrorCode::kBadInput, fmt::format("run {} is no reference: {} is {} there and {} here", reference.id, difference.field,
                                                  quoted_or_nothing(difference.a), quoted_or_nothing(difference.b)));
  }
  const WorkTable usual = work_table(store, reference);
  if (usual.step_count() == 0) return diagnosis.notes.push_back(fmt::format("run {} has no steps that all ranks recorded", reference.id));
  const auto change = find_operator_change(store, {reference.id, some_ranks(usual), some_of(usual.steps)},
                                           {run.id, some_ranks(table), some_of(table.steps)});
  if (!change) return diagnosis.notes.push_back(fmt::format("no operator takes longer than in run {}, as far as spans are stored", reference.id));
  const double cost_share = change->excess_ns / std::max(mean(table.step_ns), 1.0);
  if (!gives_way(diagnosis, cost_share) || !stands_alone(*change)) {
    return diagnosis.notes.push_back(fmt::format("against run {}: {} takes {} a step longer, {:.0f}% of what all operators do", reference.id,
                                                 change->name, quantity(change->excess_ns, "ns"), 100 * change->share));
  }
  set_operator(*change, diagnosis, cost_share);
  diagnosis.reference = reference.id;
  diagnosis.evidence = {{table.ranks.front().rank, table.steps[table.step_count() / 2], "a step of this run"}};
  diagnosis.confidence = fmt::format("medium: two runs are compared, {} and {} steps; this operator has {:.0f}% of what takes longer",
                                     usual.step_count(), table.step_count(), 100 * change->share);
}

}  // namespace ddbench::analyzer
