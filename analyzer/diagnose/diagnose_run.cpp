#include "analyzer/diagnose/diagnose_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/clocks/clock_alignment.h"
#include "analyzer/diagnose/common_causes.h"
#include "analyzer/diagnose/operators/slow_operator.h"
#include "analyzer/statistics/statistics.h"
#include "core/error.h"
#include "core/run_case/program_case.h"
#include "core/text/quantity.h"

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kStepsForOperator = 48;
constexpr double kLeastLate_ns = 1e9;
constexpr double kLeastLateShare = 0.10;  // of the measured steps
constexpr double kStolenPercent = 2;
constexpr double kThrottledPercent = 1;

std::vector<std::uint32_t> some_steps(const WorkTable& table, const Diagnosis& diagnosis) {
  std::vector<std::uint32_t> steps;
  for (const std::uint32_t step : table.steps) {
    if (step >= diagnosis.first_step && step <= diagnosis.last_step) steps.push_back(step);
  }
  const std::size_t stride = std::max<std::size_t>(1, steps.size() / kStepsForOperator);
  std::vector<std::uint32_t> some;
  for (std::size_t i = 0; i < steps.size() && some.size() < kStepsForOperator; i += stride) some.push_back(steps[i]);
  return some;
}

void name_operator(const store::RunStore& store, const store::RunId& id, const WorkTable& table, Diagnosis& diagnosis) {
  std::vector<int> others;
  for (const WorkRank& rank : table.ranks) {
    const bool is_named = std::find(diagnosis.ranks.begin(), diagnosis.ranks.end(), rank.rank) != diagnosis.ranks.end();
    if (!is_named && others.size() < 8) others.push_back(rank.rank);
  }
  const auto found = find_slow_operator(store, id, diagnosis.ranks, others, some_steps(table, diagnosis));
  if (!found) return;
  constexpr double kAlone = 0.8;
  if (found->share < kAlone) {
    diagnosis.notes.push_back(fmt::format("of operators, {} has most of the excess: {:.0f}%", found->name, 100 * found->share));
    return;
  }
  diagnosis.operator_name = found->name;
  diagnosis.operator_share = found->share;
  diagnosis.next_checks.insert(diagnosis.next_checks.begin(),
                               fmt::format("only {} is slower here: does this rank run another version of it, or other shapes?",
                                           found->name));
}

/// When each rank came out of its first step's own work, on one time line.
void look_for_late_start(const store::RunStore& store, const store::RunRecord& run, const WorkTable& table,
                         Diagnosis& diagnosis) {
  const std::vector<store::RankRecord> ranks = store.ranks(run.id);
  const ClockAlignment clocks(ranks);
  if (!clocks.known()) return;
  const std::vector<store::StepRecord> records = store.steps(run.id);
  std::vector<double> came_ns;
  for (std::size_t i = 0; i < records.size() && i < ranks.size(); ++i) {
    if (records[i].step != records.front().step || records[i].rank != ranks[i].rank) return;
    came_ns.push_back(static_cast<double>(clocks.to_reference(i, records[i].begin_ns)) +
                      own_work(records[i], 0, 0).total());
  }
  if (came_ns.size() != ranks.size()) return;
  const auto last = std::max_element(came_ns.begin(), came_ns.end());
  const auto place = static_cast<std::size_t>(last - came_ns.begin());
  std::vector<double> others = came_ns;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(place));
  const double late_ns = *last - *std::max_element(others.begin(), others.end());
  double elapsed_ns = 0;
  for (const double step_ns : table.step_ns) elapsed_ns += step_ns;
  for (const UnprobedStep& step : table.unprobed) elapsed_ns += step.duration_ns;
  if (late_ns < kLeastLate_ns || late_ns < kLeastLateShare * elapsed_ns) return;
  diagnosis.cause = Cause::kLateStart;
  diagnosis.ranks = {ranks[place].rank};
  diagnosis.nodes = {ranks[place].node};
  diagnosis.host = ranks[place].host;
  diagnosis.excess_ns = late_ns;
  diagnosis.first_step = diagnosis.last_step = records.front().step;
  diagnosis.confidence = "high: read from the begin of its first step";
  diagnosis.next_checks = {"what does this rank do before its first collective: reading data, compiling, a cold cache?"};
}

/// What is ruled out first, or lies behind it.
void add_counts(const store::RunRecord& run, const WorkTable& table, Diagnosis& diagnosis) {
  const Facts& facts = run.environment.facts;
  if (table.shares_cores)
    diagnosis.notes.push_back("ranks share cores here: they hold each other up, and a slow rank may be a busy core");
  const double stolen = get_fact(facts, fact_key<"cpu.stolen_percent">).value_or(0);
  if (stolen >= kStolenPercent)
    diagnosis.notes.push_back(fmt::format("a hypervisor gave {:.1f}% of the processor time to others", stolen));
  const double throttled = get_fact(facts, fact_key<"cpu.throttled_percent">).value_or(0);
  if (throttled >= kThrottledPercent)
    diagnosis.notes.push_back(fmt::format("a control group's limit held threads up for {:.1f}% of the time", throttled));
  if (const auto times = get_fact(facts, fact_key<"cpu.thermal_throttles">); times && *times > 0)
    diagnosis.notes.push_back(fmt::format("cores were slowed down for their heat {} times", *times));
}

/// As a table or a log has them: rank 0 stands for all.
bool has_figures_of_all_ranks(const store::RunStore& store, const store::RunId& id) {
  const std::vector<store::StepRecord> steps = store.steps(id);
  return !steps.empty() && std::none_of(steps.begin(), steps.end(), [](const auto& step) { return step.probes_on; });
}

}  // namespace

Measured<Diagnosis> diagnose_run(const store::RunStore& store, const store::RunId& id,
                                 const std::optional<store::RunRecord>& reference) {
  const std::optional<store::RunRecord> run = store.run(id);
  if (!run) throw Error(ErrorCode::kBadInput, fmt::format("run {} is not in {}", id, store.file().string()));
  if (run->run_case.world_size() == 1) return Measured<Diagnosis>::missing("single rank: nobody waits for it");
  if (is_micro(run->run_case))
    return Measured<Diagnosis>::missing("a microbenchmark has no steps in which ranks wait for each other");
  const WorkTable table = work_table(store, *run);
  if (run->provenance.has(Provenance::kImported) && has_figures_of_all_ranks(store, id))
    return Measured<Diagnosis>::missing("the source has figures of the whole run and none of single ranks");
  if (table.rank_count() < 2) {
    const std::string recorded = table.rank_count() == 0 ? "none" : "only 1";
    return Measured<Diagnosis>::missing(
        fmt::format("{} of {} ranks was recorded: who waits for whom is not known", recorded, run->run_case.world_size()));
  }
  Measured<Diagnosis> found = diagnose(table);
  if (!found) return found;
  Diagnosis diagnosis = *found;
  if (diagnosis.cause == Cause::kSlowCompute) name_operator(store, id, table, diagnosis);
  look_for_slow_link(store, id, table, diagnosis);
  look_for_slow_operator(store, id, table, diagnosis);
  if (reference) compare_operators(store, *run, *reference, table, diagnosis);
  if (!is_accusation(diagnosis.cause)) look_for_late_start(store, *run, table, diagnosis);
  add_counts(*run, table, diagnosis);
  return diagnosis;
}

std::string verdict_or_reason(const Measured<Diagnosis>& diagnosis) {
  return diagnosis ? verdict_in_words(*diagnosis) : "no diagnosis: " + diagnosis.reason();
}

}  // namespace ddbench::analyzer
