#include "harness/experiment/run/goodput.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "analyzer/rate/checkpoint_times.h"
#include "analyzer/rate/measured_steps.h"
#include "core/clock.h"
#include "core/facts/facts.h"
#include "core/run_case/step_facts.h"
#include "harness/experiment/run/checkpoint_folder.h"

namespace ddbench::experiment {
namespace {

using Seconds = std::map<std::uint32_t, double>;  // by step

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

/// What each step added to the elapsed time: that sums to it, which the slowest ranks' times do not.
Seconds step_seconds(const store::RunStore& store, const store::RunRecord& run) {
  const std::vector<store::RankRecord> ranks = store.ranks(run.id);
  const auto count = static_cast<std::size_t>(run.run_case.world_size());
  Seconds added;
  for (const analyzer::RunStep& step : analyzer::measured_steps(store.steps(run.id), 0, ranks, count).steps)
    added[step.step] = seconds(step.added_ns);
  return added;
}

/// Of the steps before `end`.
double useful_seconds(const store::RunStore& store, const store::RunRecord& run, std::uint32_t end) {
  double useful = 0;
  const Seconds checkpoints = analyzer::checkpoint_seconds_by_step(store, run);
  for (const auto& [step, spent] : step_seconds(store, run)) {
    if (step >= end) break;
    const auto checkpoint = checkpoints.find(step);
    useful += spent - (checkpoint == checkpoints.end() ? 0 : std::min(spent, checkpoint->second));
  }
  return useful;
}

double total_seconds(const store::RunRecord& run) {
  return std::max(0.0, seconds(run.finished_wall_ns - run.started_wall_ns));
}

}  // namespace

std::int64_t last_step_end_wall_ns(const store::RunStore& store, const store::RunRecord& run) {
  store::RunRecord here;
  store::set_owner_to_this_process(here);
  if (run.owner_boot_id != here.owner_boot_id) return 0;
  std::int64_t last_ns = 0;
  for (const store::StepRecord& step : store.steps(run.id)) {
    last_ns = std::max(last_ns, step.begin_ns + step.duration_ns);
  }
  return last_ns == 0 ? 0 : last_ns + wall_ns() - now_ns();
}

void store_goodput(store::RunStore& store, const store::RunId& id) {
  double useful = 0;
  double total = 0;
  double between = 0;
  int restarts = 0;
  std::uint32_t end = std::numeric_limits<std::uint32_t>::max();
  std::set<store::RunId> seen;  // a store of others may have runs that continue each other in a circle
  for (std::optional<store::RunRecord> run = store.run(id); run && seen.insert(run->id).second;) {
    useful += useful_seconds(store, *run, end);
    total += total_seconds(*run);
    const auto before = get_fact(run->environment.facts, fact_key<"resumed.from">);
    if (!before) break;
    // A later run may have gone back further.
    end = std::min(end, static_cast<std::uint32_t>(first_own_step(run->environment.facts)));
    ++restarts;
    const std::int64_t started_ns = run->started_wall_ns;
    run = store.run(*before);
    if (run) between += std::max(0.0, seconds(started_ns - run->finished_wall_ns));
  }
  store::RunRecord run = store.run(id).value();
  Facts& facts = run.environment.facts;
  set_fact(facts, fact_key<"goodput">, total > 0 ? std::min(1.0, useful / total) : 0.0);
  set_fact(facts, fact_key<"goodput.useful_s">, useful);
  set_fact(facts, fact_key<"goodput.total_s">, total);
  set_fact(facts, fact_key<"goodput.between_s">, between);
  set_fact(facts, fact_key<"goodput.restarts">, restarts);
  store.update_run(run);
}

}  // namespace ddbench::experiment
