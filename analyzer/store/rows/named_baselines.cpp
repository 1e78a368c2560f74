#include <fmt/format.h>

#include <algorithm>

#include "analyzer/store/rows/run_store.h"
#include "analyzer/store/rows/run_store_impl.h"
#include "analyzer/store/sqlite/row_insertion.h"
#include "core/clock.h"
#include "core/error.h"

namespace ddbench::store {
namespace {

constexpr std::size_t kLongestName = 64;

bool is_name_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
         c == '.' || c == '/';
}

void require_name(std::string_view name) {
  const bool allowed = !name.empty() && name.size() <= kLongestName &&
                       std::all_of(name.begin(), name.end(), is_name_character) && name.front() != '-' &&
                       name.front() != '.' && name != "last";
  if (allowed) return;
  throw Error(
      ErrorCode::kBadInput,
      fmt::format(
          "\"{}\" cannot name a baseline: 1 to {} letters, digits and . _ / -, not beginning with . or -, "
          "and not \"last\"",
          name, kLongestName));
}

std::vector<NamedBaseline> read_baselines(Statement statement, const Database& database) {
  std::vector<NamedBaseline> found;
  Statement runs =
      database.prepare("SELECT run_id FROM baseline_run WHERE name = ? AND version = ? ORDER BY position");
  while (statement.step()) {
    NamedBaseline& baseline = found.emplace_back();
    statement.read(baseline.name, baseline.version, baseline.created_wall_ns, baseline.reference);
    runs.bind(baseline.name, baseline.version);
    while (runs.step()) runs.read(baseline.runs.emplace_back());
    runs.reset();
  }
  return found;
}

}  // namespace

NamedBaseline RunStore::add_baseline(std::string_view name, std::string_view reference,
                                     std::span<const RunId> runs) {
  require_name(name);
  if (runs.empty())
    throw Error(ErrorCode::kBadInput, fmt::format("the baseline \"{}\" needs a run or more", name));
  const Database& database = impl_->database;
  NamedBaseline baseline{std::string(name), 1, wall_ns(), std::string(reference), {runs.begin(), runs.end()}};
  Transaction transaction(database);
  for (const RunId& run : runs) impl_->run_key(run);
  Statement newest = database.prepare("SELECT max(version) FROM baseline WHERE name = ?");
  newest.bind(name).step();
  constexpr std::int64_t kLastVersion = 1'000'000'000;
  if (newest.integer(0) < 0 || newest.integer(0) >= kLastVersion)
    throw Error(ErrorCode::kBadInput, fmt::format("the baseline \"{}\" has the version {}: no further one can be added", name, newest.integer(0)));
  baseline.version = static_cast<int>(newest.integer(0)) + 1;
  newest.reset();
  RowInsertion("INSERT", "baseline", {"name", "version", "created_wall_ns", "reference"})
      .insert_row(database, name, baseline.version, baseline.created_wall_ns, reference);
  int position = 0;
  RowInsertion("INSERT", "baseline_run", {"name", "version", "position", "run_id"})
      .insert(database, runs, [&](RowValues& values, const RunId& run) { values(name, baseline.version, position++, run); });
  transaction.commit();
  return baseline;
}

std::vector<NamedBaseline> RunStore::baselines() const {
  return read_baselines(
      impl_->database.prepare("SELECT name, max(version), created_wall_ns, reference FROM baseline "
                              "GROUP BY name ORDER BY name"),
      impl_->database);
}

std::vector<NamedBaseline> RunStore::baseline_versions(std::string_view name) const {
  Statement statement = impl_->database.prepare(
      "SELECT name, version, created_wall_ns, reference FROM baseline WHERE name = ? ORDER BY version");
  statement.bind(name);
  return read_baselines(std::move(statement), impl_->database);
}

void RunStore::delete_baseline(std::string_view name) {
  Transaction transaction(impl_->database);
  if (baseline_versions(name).empty()) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("there is no baseline \"{}\" in the store {}", name, file().string()), 0,
                file().string());
  }
  impl_->database.prepare("DELETE FROM baseline WHERE name = ?").bind(name).run();
  transaction.commit();
}

}  // namespace ddbench::store
