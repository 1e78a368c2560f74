#include "find_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "ddbench/record/error.h"
#include "run_row.h"

namespace ddbench::store {
namespace {

constexpr std::size_t kMostListed = 5;

std::string describe(const RunRecord& run) {
  const std::string name = run.run_case.name.empty() ? "" : fmt::format(", \"{}\"", run.run_case.name);
  return fmt::format("\n  {} ({}, {} x {} GPUs, {}{})", run.id, run.run_case.workload, run.run_case.nodes,
                     run.run_case.gpus_per_node, to_string(run.state), name);
}

std::string list(const std::vector<RunRecord>& runs) {
  std::string text;
  for (std::size_t index = 0; index < std::min(runs.size(), kMostListed); ++index)
    text += describe(runs[index]);
  if (runs.size() > kMostListed) text += fmt::format("\n  and {} more", runs.size() - kMostListed);
  return text;
}

[[noreturn]] void throw_not_found(const Database& database, const std::string& what) {
  const std::string file = database.file().string();
  const std::vector<RunRecord> newest = select_runs(database, "", {}, static_cast<int>(kMostListed));
  throw Error(ErrorCode::kBadInput,
              newest.empty()
                  ? fmt::format("{}: the store {} is empty; `ddbench run` fills it", what, file)
                  : fmt::format("{} in the store {}; the newest runs are:{}", what, file, list(newest)),
              0, file);
}

// Compared as bytes: LIKE would take % and _ in a reference for wildcards and not tell upper from lower case.
std::vector<RunRecord> runs_with_affix(const Database& database, std::string_view reference) {
  Statement statement = database.prepare("SELECT id FROM run");
  std::vector<std::string> ids;
  std::string id;
  while (statement.step()) {
    statement.read(id);
    const std::string_view view = id;
    if (view.starts_with(reference) || view.ends_with(reference)) ids.push_back(id);
  }
  std::vector<RunRecord> runs;
  for (const std::string& match : ids) {
    for (RunRecord& run : select_runs(database, "id = ?", {match}, 1)) runs.push_back(std::move(run));
  }
  std::stable_sort(runs.begin(), runs.end(), [](const RunRecord& a, const RunRecord& b) {
    return a.started_wall_ns > b.started_wall_ns;
  });
  return runs;
}

}  // namespace

RunRecord find_run(const Database& database, std::string_view reference) {
  const std::string text(reference);
  if (reference == "last") {
    const auto newest = select_runs(database, "is_baseline = 0", {}, 1);
    if (newest.empty()) throw_not_found(database, "there is no last run");
    return newest.front();
  }
  for (const char* condition : {"id = ?", "name = ?"}) {
    if (reference.empty()) break;
    const auto newest = select_runs(database, condition, {text}, 1);
    if (!newest.empty()) return newest.front();
  }
  const auto matches = reference.empty() ? std::vector<RunRecord>() : runs_with_affix(database, reference);
  if (matches.empty()) throw_not_found(database, fmt::format("there is no run \"{}\"", text));
  if (matches.size() > 1) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("\"{}\" fits {} runs in the store {}; say more of the id of one of these:{}",
                            text, matches.size(), database.file().string(), list(matches)),
                0, database.file().string());
  }
  return matches.front();
}

}  // namespace ddbench::store
