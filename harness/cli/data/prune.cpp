#include "harness/cli/data/prune.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "analyzer/run/run_reference.h"
#include "analyzer/store/maintenance/maintenance.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/text/number.h"
#include "harness/cli/options/open_store.h"
#include "harness/cli/options/output.h"
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

store::RunRecord run_to_prune(const store::RunStore& store, const GoneRuns& gone, const std::string& reference) {
  const store::RunId id = store.find_id(reference);
  const store::RunRecord run = store.run(id).value_or(unreadable_run(id));
  if (is_driven(run, gone)) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("run {} is still running (pid {} on {}, last sign of life {}): end it first, or add --stale when it "
                            "gives none for {} s",
                            id, run.owner_pid, run.owner_host, store::describe_last_sign(run, wall_ns()),
                            store::kStaleAfter_ns / 1'000'000'000));
  }
  return run;
}

/// Unordered: the runs chosen by the ids and the selection.
std::vector<store::RunRecord> candidates(const store::RunStore& store, const PruneOptions& options, const GoneRuns& gone) {
  if (options.runs.empty())
    return options.selection.is_empty() ? store.runs() : select_runs(store, options.selection);
  std::map<store::RunId, store::RunRecord> named;
  for (const std::string& reference : options.runs) {
    store::RunRecord run = run_to_prune(store, gone, reference);
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

void print_result(const PruneOptions& options, const std::vector<store::RunRecord>& runs, std::size_t kept,
                  const store::PruneResult& result) {
  if (options.json) {
    nlohmann::ordered_json json = {{"schema_version", reports::kJsonSchemaVersion},
                                   {"deleted", options.yes},
                                   {"spans_only", options.spans_only},
                                   {"runs", nlohmann::ordered_json::array()},
                                   {"kept", kept},
                                   {"bytes_before", result.bytes_before},
                                   {"bytes_after", result.bytes_after}};
    for (const store::RunRecord& run : runs) json["runs"].push_back(run.id);
    print(json.dump() + "\n");
    return;
  }
  const char* what = options.spans_only ? "the spans of " : "";
  if (!options.yes) {
    for (const store::RunRecord& run : runs)
      print(fmt::format("{}  {}\n", run.id, printable(run.run_case.name)));
    print(fmt::format("would delete {}{} run(s); nothing was deleted: add --yes to do it\n", what,
                      runs.size()));
  } else {
    print(fmt::format("deleted {}{} run(s); the store went from {:.1f} to {:.1f} MB\n", what, runs.size(),
                      static_cast<double>(result.bytes_before) / 1e6,
                      static_cast<double>(result.bytes_after) / 1e6));
  }
  if (kept > 0)
    print(fmt::format(
        "kept {} matching run(s): they are baselines of other runs or part of a named baseline\n", kept));
}

}  // namespace

std::vector<store::RunRecord> runs_to_prune(const store::RunStore& store, const PruneOptions& options,
                                            std::size_t& kept) {
  const bool any = !options.runs.empty() || !options.selection.is_empty() || !options.older_than.empty() ||
                   options.keep_last > 0 || !options.states.empty() || options.invalid || options.stale;
  if (!any) {
    throw Error(
        ErrorCode::kBadInput,
        "prune needs to know what to delete: ids of runs, --older-than, --keep-last, --state, --invalid, --stale, "
        "--sweep or --where");
  }
  const GoneRuns gone = gone_runs(store, options);
  std::vector<store::RunRecord> runs = candidates(store, options, gone);
  std::sort(runs.begin(), runs.end(),
            [](const auto& a, const auto& b) { return a.started_wall_ns > b.started_wall_ns; });
  const auto keep = static_cast<std::size_t>(std::max(0, options.keep_last));
  runs.erase(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(std::min(keep, runs.size())));
  const std::int64_t before_ns = options.older_than.empty() ? 0 : wall_ns() - age_ns(options.older_than);
  const std::set<store::RunState> states = states_of(options);
  std::erase_if(runs, [&](const store::RunRecord& run) {
    return (before_ns != 0 && run.started_wall_ns >= before_ns) ||
           (!states.empty() && states.count(run.state) == 0) || (options.invalid && run.valid) ||
           (options.stale && run.state != store::RunState::kRunning) || is_driven(run, gone);
  });
  std::reverse(runs.begin(), runs.end());
  kept = 0;
  if (options.spans_only) return runs;
  for (bool changed = true; changed;) {  // a run that is kept needs its own baseline
    std::set<store::RunId> pruned;
    for (const store::RunRecord& run : runs) pruned.insert(run.id);
    const std::set<store::RunId> needed = needed_runs(store, pruned);
    const auto erased =
        std::erase_if(runs, [&](const store::RunRecord& run) { return needed.count(run.id) != 0; });
    kept += erased;
    changed = erased > 0;
  }
  return runs;
}

int prune(const PruneOptions& options) {
  const std::filesystem::path file = store_path(options.selection.db);
  std::size_t kept = 0;
  std::vector<store::RunRecord> runs;
  {
    auto store = store::RunStore::open(file, store::OpenMode::kReadOnly);
    if (options.runs.empty()) report_unreadable_runs(store);
    runs = runs_to_prune(store, options, kept);
  }
  std::vector<store::RunId> ids;
  for (const store::RunRecord& run : runs) ids.push_back(run.id);
  store::PruneResult result;
  std::vector<std::string> notes;
  if (options.yes && !ids.empty()) {
    result = store::prune_store(file, ids,
                                options.spans_only ? store::PruneWhat::kSpans : store::PruneWhat::kRuns,
                                [&](const store::RunRecord& run) { refuse_living(run, runs); });
    if (!options.spans_only) {
      const std::vector<store::RunRecord> left =
          store::RunStore::open(file, store::OpenMode::kReadOnly).runs();
      notes = experiment::remove_run_folders(file, runs, left);
    }
  }
  print_result(options, runs, kept, result);
  for (const std::string& note : notes) fmt::print(stderr, "note: {}\n", printable(note));
  return 0;
}

}  // namespace ddbench::cli
