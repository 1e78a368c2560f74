#include "analyzer/store/rows/find_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/store/rows/run_row.h"
#include "core/error.h"

namespace ddbench::store {
namespace {

constexpr std::size_t kMostListed = 5;

std::string describe(const RunRecord& run) {
  const std::string name = run.run_case.name.empty() ? "" : fmt::format(", \"{}\"", run.run_case.name);
  const std::string nodes = run.run_case.nodes_not_stated ? "" : fmt::format("{} x ", run.run_case.nodes);
  return fmt::format("\n  {} ({}, {}{} GPUs, {}{})", run.id, work_name(run.run_case.work), nodes,
                     run.run_case.gpus_per_node, to_string(run.state), name);
}

std::string list(const std::vector<RunRecord>& runs) {
  std::string text;
  for (std::size_t index = 0; index < std::min(runs.size(), kMostListed); ++index)
    text += describe(runs[index]);
  if (runs.size() > kMostListed) text += fmt::format("\n  and {} more", runs.size() - kMostListed);
  return text;
}

[[noreturn]] void throw_not_found(const Database& database, const std::string& what,
                                  const OnUnreadable& leave_out) {
  const std::string file = database.file().string();
  const std::vector<RunRecord> newest =
      select_runs(database, "", {}, static_cast<int>(kMostListed), leave_out);
  throw Error(ErrorCode::kBadInput,
              newest.empty()
                  ? fmt::format("{}: the store {} is empty; `ddbench run` fills it", what, file)
                  : fmt::format("{} in the store {}; the newest runs are:{}", what, file, list(newest)),
              0, file);
}

// Compared as bytes: LIKE would treat % and _ in a reference as wildcards and ignore case.
std::vector<RunId> ids_with_affix(const Database& database, std::string_view part) {
  Statement statement = database.prepare("SELECT id FROM run ORDER BY started_wall_ns DESC");
  std::vector<RunId> ids;
  RunId id;
  while (statement.step()) {
    statement.read(id);
    const std::string_view view = id;
    if (view.starts_with(part) || view.ends_with(part)) ids.push_back(id);
  }
  return ids;
}

[[noreturn]] void throw_ambiguous(const Database& database, std::string_view part,
                                  const std::vector<RunId>& ids) {
  std::vector<RunRecord> runs;
  for (const RunId& id : ids) {
    for (RunRecord& run : select_runs(database, "id = ?", {id}, 1, [](const UnreadableRun&) {}))
      runs.push_back(std::move(run));
  }
  throw Error(ErrorCode::kBadInput,
              fmt::format("\"{}\" is ambiguous: it fits {} runs in the store {}. Give more characters of one of these:{}", part,
                          ids.size(), database.file().string(), list(runs)),
              0, database.file().string());
}

}  // namespace

RunId find_id(const Database& database, std::string_view id_or_part, const OnUnreadable& leave_out) {
  Statement exact = database.prepare("SELECT id FROM run WHERE id = ?");
  if (exact.bind(id_or_part).step()) return RunId(id_or_part);
  const std::vector<RunId> ids =
      id_or_part.empty() ? std::vector<RunId>() : ids_with_affix(database, id_or_part);
  if (ids.empty()) throw_not_found(database, fmt::format("there is no run \"{}\"", id_or_part), leave_out);
  if (ids.size() > 1) throw_ambiguous(database, id_or_part, ids);
  return ids.front();
}

RunRecord find_run(const Database& database, std::string_view reference, const OnUnreadable& leave_out) {
  if (reference == "last") {
    // By the order in which they were stored: a clock may have been set back.
    Statement keys = database.prepare("SELECT run_key FROM run WHERE is_baseline = 0 ORDER BY run_key DESC");
    while (keys.step()) {
      const auto found =
          select_runs(database, fmt::format("run_key = {}", keys.integer(0)), {}, 1, leave_out);
      if (!found.empty()) return found.front();
    }
    throw_not_found(database, "there is no last run", leave_out);
  }
  const std::string text(reference);
  const auto by_id = select_runs(database, "id = ?", {text}, 1);
  if (!by_id.empty()) return by_id.front();
  if (!reference.empty()) {
    const auto by_name = select_runs(database, "name = ?", {text}, 1, leave_out);
    if (!by_name.empty()) return by_name.front();
  }
  std::vector<RunRecord> found = select_runs(database, "id = ?", {find_id(database, reference, leave_out)}, 1);
  if (found.empty()) throw_not_found(database, fmt::format("\"{}\" was removed meanwhile", text), leave_out);
  return std::move(found.front());
}

}  // namespace ddbench::store
