#include "harness/cli/store/collect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <variant>

#include "analyzer/store/maintenance/collect_runs.h"
#include "analyzer/store/maintenance/maintenance.h"
#include "core/error.h"
#include "core/files/temporary_directory.h"
#include "harness/cli/options/output.h"
#include "harness/cli/store/collect_sources.h"
#include "harness/cli/store/export_runs.h"
#include "harness/cli/store/prune.h"
#include "reports/formats/json/json.h"

namespace ddbench::cli {
namespace {

namespace fs = std::filesystem;

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
        directory_(temporary_root(), "collect-" + store::new_run_id()) {}

  const fs::path& target() const noexcept { return target_; }

  /// A text may stand for several stores.
  void collect(const std::string& text) {
    try {
      for (const CollectSource& source : collect_sources(text, target_)) collect(source);
    } catch (const Error& error) {
      outcomes_.push_back({text, 0, false, error.message()});
    }
  }
  const std::vector<Outcome>& outcomes() const noexcept { return outcomes_; }

 private:
  void collect(const CollectSource& source) {
    Outcome& outcome = outcomes_.emplace_back();
    outcome.source = source.name;
    const fs::path arrived = directory_.path() / fmt::format("source{}.db", outcomes_.size());
    try {
      std::visit([&](const auto& at) { take(source.name, at, arrived, outcome); }, source.at);
    } catch (const Error& error) {
      outcome.failure = error.message();
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
    const std::vector<store::RunId> ids = runs_to_export(
        store::RunStore::open(file.store, store::OpenMode::kReadOnly), {}, true, store::known_runs(target_));
    if (!ids.empty()) store::export_runs(file.store, ids, arrived);
    outcome.added = store::collect_runs(target_, ids.empty() ? fs::path() : arrived, {name, state}).size();
  }

  const CollectOptions& options_;
  fs::path target_;
  TemporaryDirectory directory_;
  std::vector<Outcome> outcomes_;
};

/// Deletes those collected runs that no rule keeps, as prune does. Whose they are does not matter: this
/// command brought them.
std::size_t retain(const CollectOptions& options, const fs::path& target) {
  if (options.keep_days == 0 && options.keep == 0) return 0;
  PruneOptions rules;
  rules.only = store::collected_runs(target);
  if (rules.only->empty()) return 0;
  if (options.keep_days > 0) rules.older_than = fmt::format("{}d", options.keep_days);
  rules.keep_last = options.keep;
  rules.force = true;
  const PruneChoice choice = runs_to_prune(store::RunStore::open(target, store::OpenMode::kReadOnly), rules);
  if (choice.runs.empty()) return 0;
  for (const std::string& note :
       delete_runs(target, choice.runs, store::PruneWhat::kUnneededRuns, store::PruneRoom::kKept).notes)
    print_error(fmt::format("note: {}\n", printable(note)));
  return choice.runs.size();
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
  print(json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

void print_collected_text(const Collector& collector, std::size_t deleted) {
  std::size_t added = 0;
  for (const Outcome& outcome : collector.outcomes()) {
    added += outcome.added;
    if (outcome.added > 0) print(fmt::format("{}: {} run(s)\n", printable(outcome.source), outcome.added));
  }
  print(fmt::format("{}: {} run(s) added from {} source(s)", printable(collector.target().string()), added,
                    collector.outcomes().size()));
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
  const std::size_t deleted = retain(options, collector.target());
  options.json ? print_collected_json(collector, deleted) : print_collected_text(collector, deleted);
  return print_failures(collector);
}

}  // namespace ddbench::cli
