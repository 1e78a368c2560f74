#include "harness/cli/store/prune.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "analyzer/run/run_reference.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/facts/facts.h"
#include "core/text/number.h"
#include "core/text/quantity.h"
#include "harness/cli/options/open_store.h"
#include "harness/cli/options/output.h"
#include "harness/cli/store/others_runs.h"
#include "harness/experiment/recover/take_over.h"
#include "harness/experiment/run/run_folders.h"
#include "reports/formats/json/json.h"

namespace ddbench::cli {
namespace {

constexpr double kLongestAge_ns = 4e18;

std::int64_t age_ns(const std::string& text) {
  const auto [value, unit] = leading_number<double>(text).value_or(LeadingNumber<double>{});
  const double unit_ns = unit == "h" ? 3600e9 : unit == "d" ? 86400e9 : unit == "w" ? 7 * 86400e9 : 0;
  if (unit_ns == 0 || !(value > 0) || value * unit_ns > kLongestAge_ns) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("--older-than is \"{}\", but it must be an age such as 12h, 90d or 4w", text));
  }
  return static_cast<std::int64_t>(value * unit_ns);
}

std::set<store::RunState> states_of(const PruneOptions& options) {
  std::set<store::RunState> states;
  for (const std::string& text : options.states) states.insert(store::run_state_from(text));
  return states;
}

/// Only its id is known.
store::RunRecord unreadable_run(const store::RunId& id) {
  store::RunRecord run;
  run.id = id;
  run.state = store::RunState::kFailed;
  run.valid = false;
  return run;
}

/// Runs that are stored as running and that nobody drives: with --stale, also those without a sign of life.
using GoneRuns = std::map<store::RunId, std::string>;

GoneRuns gone_runs(const store::RunStore& store, const PruneOptions& options) {
  std::vector<store::RunRecord> running = store.runs({.state = store::RunState::kRunning});
  if (!options.stale) std::erase_if(running, [](const store::RunRecord& run) { return !store::is_abandoned(run); });
  return experiment::gone_runs(store, running);
}

bool is_driven(const store::RunRecord& run, const GoneRuns& gone) {
  return run.state == store::RunState::kRunning && !gone.contains(run.id);
}

/// A run without any sign is never known to be stale.
std::string remedy(const store::RunRecord& run) {
  if (store::is_of_this_host(run)) return "end it first";
  if (!has_fact(run.environment.facts, fact_key<"owner.heartbeat_wall_ns">))
    return fmt::format("if its ddbench is gone, close it with `ddbench db recover {} --force`", run.id);
  return fmt::format("end it first, or add --stale when it gives none for {} s", store::kStaleAfter_ns / 1'000'000'000);
}

store::RunRecord run_to_prune(const store::RunStore& store, const PruneOptions& options, const GoneRuns& gone,
                              const std::string& reference) {
  const store::RunId id = store.find_id(reference);
  const store::RunRecord run = store.run(id).value_or(unreadable_run(id));
  if (OthersRuns(store.file(), options.force).contain(run)) {
    throw Error(ErrorCode::kBadInput, fmt::format("run {} of the shared store {} is of {}: ask them, or add --force", id, store.file().string(),
                                                  user_of(run)));
  }
  if (is_driven(run, gone)) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("run {} is still running (pid {} on {}, last sign of life {}): {}", id, run.owner_pid, run.owner_host,
                            store::describe_last_sign(run, wall_ns()), remedy(run)));
  }
  return run;
}

/// Unordered: the runs chosen by the ids and the selection.
std::vector<store::RunRecord> candidates(const store::RunStore& store, const PruneOptions& options, const GoneRuns& gone) {
  if (options.runs.empty())
    return options.selection.is_empty() ? store.runs() : select_runs(store, options.selection);
  std::map<store::RunId, store::RunRecord> named;
  for (const std::string& reference : options.runs) {
    store::RunRecord run = run_to_prune(store, options, gone, reference);
    named.insert_or_assign(run.id, std::move(run));
  }
  std::set<store::RunId> selected;
  if (!options.selection.is_empty()) {
    for (const store::RunRecord& run : select_runs(store, options.selection)) selected.insert(run.id);
  }
  std::vector<store::RunRecord> runs;
  for (auto& [id, run] : named) {
    if (options.selection.is_empty() || selected.contains(id)) runs.push_back(std::move(run));
  }
  return runs;
}

/// Runs that something outside of `pruned` leans on.
std::set<store::RunId> needed_runs(const store::RunStore& store, const std::set<store::RunId>& pruned) {
  std::set<store::RunId> needed;
  for (const store::RunRecord& run : store.runs()) {
    if (pruned.count(run.id) == 0 && !run.baseline_id.empty()) needed.insert(run.baseline_id);
  }
  for (const store::NamedBaseline& baseline : store.baselines())
    needed.insert(baseline.runs.begin(), baseline.runs.end());
  return needed;
}

/// Called while the store is locked: the owner of a run may have given a sign of life since `chosen` was read.
void refuse_living(const store::RunRecord& run, const std::vector<store::RunRecord>& chosen) {
  if (run.state != store::RunState::kRunning || store::is_abandoned(run)) return;
  const auto seen = std::find_if(chosen.begin(), chosen.end(), [&](const store::RunRecord& each) { return each.id == run.id; });
  if (seen != chosen.end() && experiment::is_unchanged(run, *seen)) return;
  throw Error(ErrorCode::kBadInput, fmt::format("run {} is running again (pid {} on {}): nothing was deleted", run.id, run.owner_pid,
                                                run.owner_host));
}

std::size_t total(const std::map<std::string, std::size_t>& counts) {
  std::size_t sum = 0;
  for (const auto& [user, count] : counts) sum += count;
  return sum;
}

/// Takes those of other users out of the runs.
std::vector<store::RunRecord> take_others(const store::RunStore& store, const PruneOptions& options, std::vector<store::RunRecord>& runs) {
  const OthersRuns others(store.file(), options.force);
  const auto first = std::stable_partition(runs.begin(), runs.end(), [&](const store::RunRecord& run) { return !others.contain(run); });
  std::vector<store::RunRecord> taken(std::make_move_iterator(first), std::make_move_iterator(runs.end()));
  runs.erase(first, runs.end());
  return taken;
}

/// Leaves those out that something else leans on.
void keep_needed(const store::RunStore& store, PruneChoice& choice) {
  for (bool changed = true; changed;) {  // a run that is kept needs its own baseline
    std::set<store::RunId> pruned;
    for (const store::RunRecord& run : choice.runs) pruned.insert(run.id);
    const std::set<store::RunId> needed = needed_runs(store, pruned);
    const auto erased = std::erase_if(choice.runs, [&](const store::RunRecord& run) { return needed.count(run.id) != 0; });
    choice.kept += erased;
    changed = erased > 0;
  }
}

void print_pruned_json(const PruneOptions& options, const PruneChoice& choice, const store::PruneResult& result) {
  nlohmann::ordered_json json = {{"schema_version", reports::kJsonSchemaVersion},
               {"deleted", options.yes},
               {"spans_only", options.spans_only},
               {"runs", nlohmann::ordered_json::array()},
               {"kept", choice.kept},
               {"kept_of_others", choice.kept_of_others},
               {"bytes_before", result.bytes_before},
               {"bytes_after", result.bytes_after}};
  for (const store::RunRecord& run : choice.runs) json["runs"].push_back(run.id);
  print_json(json);
}

void print_pruned_text(const PruneOptions& options, const PruneChoice& choice, const store::PruneResult& result) {
  const char* what = options.spans_only ? "the spans of " : "";
  if (choice.runs.empty()) {
    print("nothing to delete\n");
  } else if (!options.yes) {
    for (const store::RunRecord& run : choice.runs)
      print(fmt::format("{}  {}\n", printable(run.id), printable(run.run_case.name)));
    print(fmt::format("would delete {}{} run(s); nothing was deleted: add --yes to do it\n", what,
                      choice.runs.size()));
  } else {
    print(fmt::format("deleted {}{} run(s); the store went from {} to {}\n", what, choice.runs.size(),
                      quantity(static_cast<double>(result.bytes_before), "B"), quantity(static_cast<double>(result.bytes_after), "B")));
  }
  if (choice.kept > 0)
    print(fmt::format(
        "kept {} matching run(s): they are baselines of other runs or part of a named baseline\n", choice.kept));
  if (!choice.kept_of_others.empty())
    print(fmt::format("kept {} matching run(s) of other users ({}): --force deletes them, too\n", total(choice.kept_of_others),
                      printable(count_by_user(choice.kept_of_others))));
}

/// Leaves those out that another process has deleted, or made a baseline, since they were chosen.
void keep_found(PruneChoice& choice, const store::PruneResult& result) {
  choice.kept += result.needed;
  const std::set<store::RunId> found(result.found.begin(), result.found.end());
  std::erase_if(choice.runs, [&](const store::RunRecord& run) { return !found.contains(run.id); });
}

}  // namespace

PruneChoice runs_to_prune(const store::RunStore& store, const PruneOptions& options) {
  const bool any = !options.runs.empty() || !options.selection.is_empty() || !options.older_than.empty() ||
                   options.keep_last > 0 || !options.states.empty() || options.invalid || options.stale || options.only;
  if (!any) {
    throw Error(
        ErrorCode::kBadInput,
        "prune needs to know what to delete: ids of runs, --older-than, --keep-last, --state, --invalid, --stale, "
        "--sweep or --where");
  }
  const GoneRuns gone = gone_runs(store, options);
  PruneChoice choice{candidates(store, options, gone), 0, {}};
  std::vector<store::RunRecord>& runs = choice.runs;
  std::vector<store::RunRecord> others = take_others(store, options, runs);  // before runs are counted
  if (options.only) std::erase_if(runs, [&](const store::RunRecord& run) { return !options.only->contains(run.id); });
  std::sort(runs.begin(), runs.end(),
            [](const auto& a, const auto& b) { return a.started_wall_ns > b.started_wall_ns; });
  const auto keep = static_cast<std::size_t>(std::max(0, options.keep_last));
  runs.erase(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(std::min(keep, runs.size())));
  const std::int64_t before_ns = options.older_than.empty() ? 0 : wall_ns() - age_ns(options.older_than);
  const std::set<store::RunState> states = states_of(options);
  const auto is_spared = [&](const store::RunRecord& run) {
    return (before_ns != 0 && run.started_wall_ns >= before_ns) ||
           (!states.empty() && states.count(run.state) == 0) || (options.invalid && run.valid) ||
           (options.stale && run.state != store::RunState::kRunning) || is_driven(run, gone);
  };
  std::erase_if(runs, is_spared);
  std::erase_if(others, is_spared);
  for (const store::RunRecord& run : others) ++choice.kept_of_others[user_of(run)];
  std::reverse(runs.begin(), runs.end());
  if (!options.spans_only) keep_needed(store, choice);
  return choice;
}

Deletion delete_runs(const std::filesystem::path& store, const std::vector<store::RunRecord>& runs, store::PruneWhat what, store::PruneRoom room) {
  std::vector<store::RunId> ids;
  for (const store::RunRecord& run : runs) ids.push_back(run.id);
  experiment::RunFolders folders(store);
  store::PruneSteps steps;
  steps.check = [&](const store::RunRecord& run) { refuse_living(run, runs); };
  if (what != store::PruneWhat::kSpans) {
    steps.before_commit = [&](std::span<const store::RunId> found, const store::RunsLeft& left) {
      const std::set<store::RunId> gone(found.begin(), found.end());
      std::vector<store::RunRecord> deleted = runs;
      std::erase_if(deleted, [&](const store::RunRecord& run) { return !gone.contains(run.id); });
      folders.put_aside(deleted, left.readable, left.all_are_readable);
    };
  }
  Deletion deletion;
  steps.after_commit = [&] { deletion.notes = folders.remove(); };
  deletion.result = store::prune_store(store, ids, what, steps, room);
  return deletion;
}

int prune(const PruneOptions& options) {
  const std::filesystem::path file = store_path(options.selection.db);
  PruneChoice choice;
  {
    auto store = store::RunStore::open(file, store::OpenMode::kReadOnly);
    if (options.runs.empty()) report_unreadable_runs(store);
    choice = runs_to_prune(store, options);
  }
  Deletion deletion;
  if (options.yes && !choice.runs.empty())
    deletion = delete_runs(file, choice.runs, options.spans_only ? store::PruneWhat::kSpans : store::PruneWhat::kUnneededRuns);
  if (options.yes && choice.runs.empty()) experiment::settle_folders_aside(file);
  if (options.yes) keep_found(choice, deletion.result);
  options.json ? print_pruned_json(options, choice, deletion.result) : print_pruned_text(options, choice, deletion.result);
  for (const std::string& note : deletion.notes) print_error(fmt::format("note: {}\n", printable(note)));
  return 0;
}

}  // namespace ddbench::cli
