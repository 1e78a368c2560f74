#include "harness/cli/store/collect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <exception>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <variant>

#include "analyzer/store/maintenance/collect_runs.h"
#include "analyzer/store/maintenance/maintenance.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/files/temporary_directory.h"
#include "core/library_error/as_error.h"
#include "harness/cli/options/output.h"
#include "harness/cli/store/collect_sources.h"
#include "harness/cli/store/export_runs.h"
#include "harness/cli/store/prune.h"
#include "reports/formats/json/json.h"

namespace ddbench::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kDay_ns = 86'400 * std::int64_t{1'000'000'000};

struct Outcome {
  std::string source;
  std::size_t added = 0;
  bool unchanged = false;  ///< its files are what they were: not opened
  std::string failure;
};

/// Collects from one source after another.
class Collector {
 public:
  explicit Collector(const CollectOptions& options)
      : options_(options),
        target_(store_path(options.db)),
        directory_(emptied_root(), "collect-" + store::new_run_id()) {
    store::RunStore::open(target_, store::OpenMode::kReadWrite);  // what is wrong with it is no fault of a source
  }

  const fs::path& target() const noexcept { return target_; }

  /// A text may stand for several stores.
  void collect(const std::string& text) {
    try {
      for (const CollectSource& source : collect_sources(text, target_)) collect(source);
    } catch (const std::exception& error) {
      outcomes_.push_back({text, 0, false, as_error(error).message()});
    }
  }
  const std::vector<Outcome>& outcomes() const noexcept { return outcomes_; }

 private:
  /// Without what killed ones left.
  static fs::path emptied_root() {
    fs::path root = temporary_root();
    remove_abandoned(root, "collect-");
    return root;
  }

  void collect(const CollectSource& source) {
    Outcome& outcome = outcomes_.emplace_back();
    outcome.source = source.name;
    const fs::path arrived = directory_.path() / fmt::format("source{}.db", outcomes_.size());
    try {
      std::visit([&](const auto& at) { take(source.name, at, arrived, outcome); }, source.at);
    } catch (const std::exception& error) {
      outcome.failure = as_error(error).message();
    }
    std::error_code ignored;
    for (const char* suffix : {"", "-wal", "-shm", ".messages"})
      fs::remove(arrived.string() + suffix, ignored);
  }

  void take(const std::string& name, const HostSource& host, const fs::path& arrived, Outcome& outcome) {
    const fs::path known = directory_.path() / "known";
    std::ofstream(known) << fmt::format("{}\n", fmt::join(store::known_runs(target_), "\n")) << std::flush;
    fetch_by_ssh(host, options_.ssh, known, arrived);
    if (fs::file_size(arrived) > 0) outcome.added = store::collect_runs(target_, arrived, {name, ""}).size();
  }

  void take(const std::string& name, const FileSource& file, const fs::path& arrived, Outcome& outcome) {
    const std::string state = store::state_of_files(file.store);
    outcome.unchanged = state == store::collected_state(target_, name);
    if (outcome.unchanged) return;
    std::size_t unreadable = 0;
    store::RunStore opened = store::RunStore::open(file.store, store::OpenMode::kReadOnly);
    opened.on_unreadable([&](const store::UnreadableRun&) { ++unreadable; });
    const RunsToExport chosen = runs_to_export(opened, {}, true, store::known_runs(target_));
    if (!chosen.ids.empty()) store::export_runs(file.store, chosen.ids, arrived);
    const bool is_all = chosen.all_are_finished && unreadable == 0;  // else it is read again the next time
    outcome.added = store::collect_runs(target_, chosen.ids.empty() ? fs::path() : arrived, {name, is_all ? state : ""}).size();
    if (unreadable > 0)
      throw Error(ErrorCode::kBadInput, fmt::format("{} run(s) cannot be read and were left out: `ddbench db check --db {}` names them",
                                                    unreadable, file.store.string()));
  }

  const CollectOptions& options_;
  fs::path target_;
  TemporaryDirectory directory_;
  std::vector<Outcome> outcomes_;
};

/// Of the runs that were collected from the sources of this command, those that no rule keeps.
std::set<store::RunId> outdated_runs(const CollectOptions& options, const Collector& collector) {
  std::map<std::string, int> seen;  // by source
  for (const Outcome& outcome : collector.outcomes()) seen[outcome.source] = 0;
  const std::int64_t oldest_ns = wall_ns() - options.keep_days * kDay_ns;
  std::set<store::RunId> outdated;
  for (const store::CollectedRun& run : store::collected_runs(collector.target())) {
    const auto source = seen.find(run.source);
    if (source == seen.end()) continue;
    const bool is_among_newest = ++source->second <= options.keep;
    const bool is_young = options.keep_days > 0 && run.wall_ns >= oldest_ns;
    if (!is_among_newest && !is_young) outdated.insert(run.id);
  }
  return outdated;
}

/// Deletes them as prune does. Whose they are does not matter: they came from these sources.
std::size_t retain(const CollectOptions& options, const Collector& collector) {
  if (options.keep_days == 0 && options.keep == 0) return 0;
  PruneOptions rules;
  rules.only = outdated_runs(options, collector);
  rules.force = true;
  if (rules.only->empty()) return 0;
  const PruneChoice choice = runs_to_prune(store::RunStore::open(collector.target(), store::OpenMode::kReadOnly), rules);
  if (choice.runs.empty()) return 0;
  const Deletion deletion =
      delete_runs(collector.target(), choice.runs, store::PruneWhat::kUnneededRuns, store::PruneRoom::kKept);
  for (const std::string& note : deletion.notes) print_error(fmt::format("note: {}\n", printable(note)));
  return deletion.result.found.size();
}

void print_collected_json(const Collector& collector, std::size_t deleted) {
  nlohmann::ordered_json json = {{"schema_version", reports::kJsonSchemaVersion},
                                 {"store", collector.target().string()},
                                 {"sources", nlohmann::ordered_json::array()},
                                 {"deleted", deleted}};
  for (const Outcome& outcome : collector.outcomes()) {
    nlohmann::ordered_json source = {
        {"source", outcome.source}, {"added", outcome.added}, {"unchanged", outcome.unchanged}};
    if (!outcome.failure.empty()) source["failure"] = outcome.failure;
    json["sources"].push_back(std::move(source));
  }
  print_json(json);
}

void print_collected_text(const Collector& collector, std::size_t deleted) {
  std::size_t added = 0;
  std::size_t failed = 0;
  for (const Outcome& outcome : collector.outcomes()) {
    added += outcome.added;
    failed += outcome.failure.empty() || outcome.added > 0 ? 0 : 1;
    if (outcome.added > 0) print(fmt::format("{}: {} run(s)\n", printable(outcome.source), outcome.added));
  }
  const std::size_t sources = collector.outcomes().size();
  print(fmt::format("{}: {} run(s) added from {}{} source(s)", printable(collector.target().string()), added,
                    failed > 0 ? fmt::format("{} of ", sources - failed) : "", sources));
  print(deleted > 0 ? fmt::format(", {} deleted\n", deleted) : "\n");
}

/// The exit code. Each failure, and at the end all names.
int print_failures(const Collector& collector) {
  std::string names;
  for (const Outcome& outcome : collector.outcomes()) {
    if (outcome.failure.empty()) continue;
    print_error(fmt::format("ddbench: {}: {}\n", printable(outcome.source), printable(outcome.failure)));
    names += (names.empty() ? "" : ", ") + outcome.source;
  }
  if (names.empty()) return 0;
  print_error(fmt::format("ddbench: not collected: {}\n", printable(names)));
  return static_cast<int>(ErrorCode::kRunFailed);
}

}  // namespace

int collect(const CollectOptions& options) {
  Collector collector(options);
  for (const std::string& source : options.sources) collector.collect(source);
  std::size_t deleted = 0;
  std::exception_ptr failure;
  try {
    deleted = retain(options, collector);
  } catch (const Error&) {
    failure = std::current_exception();  // after the report of what was brought
  }
  options.json ? print_collected_json(collector, deleted) : print_collected_text(collector, deleted);
  const int exit_code = print_failures(collector);
  if (failure) std::rethrow_exception(failure);
  return exit_code;
}

}  // namespace ddbench::cli
