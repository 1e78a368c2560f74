#include "harness/cli/options/run_selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>
#include <utility>

#include "analyzer/run/run_reference.h"
#include "core/error.h"
#include "harness/cli/options/shared_options.h"

namespace ddbench::cli {
namespace {

std::vector<analyzer::FieldCondition> conditions_of(const RunSelection& selection) {
  std::vector<analyzer::FieldCondition> conditions;
  for (const std::string& text : selection.where) {
    for (analyzer::FieldCondition& condition : analyzer::parse_conditions(text))
      conditions.push_back(std::move(condition));
  }
  return conditions;
}

/// Baselines of their own sweep included, as the sweep's table has them.
std::vector<store::RunRecord> runs_of_sweep(const store::RunStore& store, const std::string& sweep) {
  std::vector<store::RunRecord> runs = store.runs({.sweep_id = sweep_with(store, sweep)});
  std::reverse(runs.begin(), runs.end());  // the store gives the newest first
  return runs;
}

}  // namespace

std::string sweep_with(const store::RunStore& store, const std::string& id_or_part) {
  if (!store.runs({.sweep_id = id_or_part, .limit = 1}).empty()) return id_or_part;
  if (id_or_part == "last-sweep") {
    for (const store::RunRecord& run : store.runs()) {  // the newest first
      if (!run.sweep_id.empty()) return run.sweep_id;
    }
  }
  const analyzer::ResolvedReference found = analyzer::resolve_reference(store, id_or_part);
  const std::string id = found.runs.empty() ? "" : found.runs.front().sweep_id;
  const bool one_sweep =
      !id.empty() && std::all_of(found.runs.begin(), found.runs.end(), [&](const auto& run) { return run.sweep_id == id; });
  if (one_sweep) return id;
  throw Error(ErrorCode::kBadInput,
              fmt::format("{} has no single sweep \"{}\" (ddbench list names them)", store.file().string(), id_or_part));
}

void add_selection_options(CLI::App& app, RunSelection& selection) {
  add_db_option(app, selection.db);
  app.add_option("--sweep", selection.sweep, "The runs of this sweep (an id or a part of one)");
  app.add_option("--where", selection.where, "Runs with field=value[,field=value...]; may be repeated")
      ->take_all()
      ->allow_extra_args(false);
}

std::vector<store::RunRecord> select_runs(const store::RunStore& store, const RunSelection& selection) {
  const std::vector<analyzer::FieldCondition> conditions = conditions_of(selection);
  std::vector<store::RunRecord> runs;
  if (selection.sweep.empty()) {
    runs = analyzer::runs_where(store, conditions);
  } else {
    runs = runs_of_sweep(store, selection.sweep);
    std::erase_if(runs, [&](const store::RunRecord& run) { return !analyzer::matches(run, conditions); });
  }
  if (!runs.empty()) return runs;
  throw Error(
      ErrorCode::kBadInput,
      fmt::format("no run in {} matches{}{}{}{}: `ddbench list` shows what there is", store.file().string(),
                  selection.sweep.empty() ? "" : " --sweep ", selection.sweep,
                  selection.where.empty() ? "" : " --where ", fmt::join(selection.where, " --where ")));
}

std::vector<store::RunRecord> select_runs_or_newest_sweep(const store::RunStore& store, const RunSelection& selection,
                                                          const std::function<bool(std::span<const store::RunRecord>)>& suits) {
  if (!selection.is_empty()) return select_runs(store, selection);
  std::vector<store::RunRecord> newest;
  std::set<std::string> seen;
  for (const store::RunRecord& run : store.runs()) {
    if (run.sweep_id.empty() || !seen.insert(run.sweep_id).second) continue;
    std::vector<store::RunRecord> runs = runs_of_sweep(store, run.sweep_id);
    if (!suits || suits(runs)) return runs;
    if (newest.empty()) newest = std::move(runs);
  }
  if (!newest.empty()) return newest;
  throw Error(
      ErrorCode::kBadInput,
      fmt::format("{} holds no sweep: run one with `ddbench sweep`, or choose runs with --where field=value",
                  store.file().string()));
}

}  // namespace ddbench::cli
