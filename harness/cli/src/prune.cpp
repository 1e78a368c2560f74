#include "prune.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "ddbench/analyzer/run_reference.h"
#include "ddbench/experiment/run_folders.h"
#include "ddbench/record/clock.h"
#include "ddbench/record/error.h"
#include "ddbench/reports/json.h"
#include "ddbench/store/maintenance.h"
#include "output.h"

namespace ddbench::cli {
namespace {

constexpr double kLongestAge_ns = 4e18;

std::int64_t age_ns(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit(end, text.data() + text.size());
  const double unit_ns = unit == "h" ? 3600e9 : unit == "d" ? 86400e9 : unit == "w" ? 7 * 86400e9 : 0;
  if (error != std::errc() || unit_ns == 0 || !(value > 0) || value * unit_ns > kLongestAge_ns) {
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
        "{} run(s) that fit are kept: others are stated against them, or a named baseline holds them\n",
        kept));
}

}  // namespace

std::vector<store::RunRecord> runs_to_prune(const store::RunStore& store, const PruneOptions& options,
                                            std::size_t& kept) {
  const bool any = !options.selection.is_empty() || !options.older_than.empty() || options.keep_last > 0 ||
                   !options.states.empty() || options.invalid;
  if (!any) {
    throw Error(ErrorCode::kBadInput,
                "prune needs to know what to delete: --older-than, --keep-last, --state, --invalid, --sweep "
                "or --where");
  }
  std::vector<store::RunRecord> runs = store.runs();  // newest first
  if (!options.selection.is_empty()) runs = select_runs(store, options.selection);
  std::sort(runs.begin(), runs.end(),
            [](const auto& a, const auto& b) { return a.started_wall_ns > b.started_wall_ns; });
  const auto keep = static_cast<std::size_t>(std::max(0, options.keep_last));
  runs.erase(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(std::min(keep, runs.size())));
  const std::int64_t before_ns = options.older_than.empty() ? 0 : wall_ns() - age_ns(options.older_than);
  const std::set<store::RunState> states = states_of(options);
  std::erase_if(runs, [&](const store::RunRecord& run) {
    return (before_ns != 0 && run.started_wall_ns >= before_ns) ||
           (!states.empty() && states.count(run.state) == 0) || (options.invalid && run.valid) ||
           (run.state == store::RunState::kRunning && !store::is_abandoned(run));
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
    const auto store = store::RunStore::open(file, store::OpenMode::kReadOnly);
    runs = runs_to_prune(store, options, kept);
  }
  std::vector<store::RunId> ids;
  for (const store::RunRecord& run : runs) ids.push_back(run.id);
  store::PruneResult result;
  if (options.yes && !ids.empty()) {
    result = store::prune_store(file, ids,
                                options.spans_only ? store::PruneWhat::kSpans : store::PruneWhat::kRuns);
    if (!options.spans_only) {
      const std::vector<store::RunRecord> left =
          store::RunStore::open(file, store::OpenMode::kReadOnly).runs();
      experiment::remove_run_folders(file, runs, left);
    }
  }
  print_result(options, runs, kept, result);
  return 0;
}

}  // namespace ddbench::cli
