#include "harness/cli/store/export_runs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/clock.h"
#include "core/error.h"
#include "core/files/temporary_directory.h"
#include "harness/cli/options/open_store.h"
#include "harness/cli/options/output.h"
#include "reports/formats/json/json.h"

namespace ddbench::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCopiedAtOnce = 1 << 20;
/// A ddbench that lives longer measures something else: `sweep`, `gate`.
constexpr std::int64_t kLongestAnalysis_ns = 15 * 60 * std::int64_t{1'000'000'000};

std::set<store::RunId> ids_in(const std::string& file) {
  if (file.empty()) return {};
  std::ifstream opened;
  if (file != "-") {
    opened.open(file);
    if (!opened) throw Error(ErrorCode::kBadInput, fmt::format("cannot read {}", file), errno, file);
  }
  std::istream& lines = file == "-" ? std::cin : opened;
  std::set<store::RunId> ids;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) ids.insert(line);
  }
  return ids;
}

void print_file(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string bytes(kCopiedAtOnce, '\0');
  while (stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) || stream.gcount() > 0)
    print(std::string_view(bytes.data(), static_cast<std::size_t>(stream.gcount())));
  if (stream.bad())
    throw Error(ErrorCode::kRunFailed, fmt::format("cannot read {}", file.string()), errno, file.string());
}

/// A run is stored as done before its rows are computed. Of a ddbench on another machine it is not known whether it goes on.
bool is_finished(const store::RunRecord& run) {
  if (run.state == store::RunState::kRunning) return false;
  store::RunRecord driven = run;
  driven.state = store::RunState::kRunning;
  const bool owner_lives = run.owner_pid > 0 && store::is_of_this_host(run) && !store::is_abandoned(driven);
  return !owner_lives || wall_ns() - run.finished_wall_ns > kLongestAnalysis_ns;
}

/// As a store of these runs alone, which is whole: nothing is written before it is.
void print_store(const fs::path& source, const std::vector<store::RunId>& ids) {
  if (ids.empty()) return;
  remove_abandoned(temporary_root(), "export-");
  const TemporaryDirectory directory(temporary_root(), "export-" + store::new_run_id());
  const fs::path file = directory.path() / "export.db";
  store::export_runs(source, ids, file);
  if (std::error_code ignored; fs::file_size(file.string() + "-wal", ignored) > 0 && !ignored)
    throw Error(ErrorCode::kRunFailed, fmt::format("{} cannot be completed: is the disk full?", file.string()), 0, file.string());
  print_file(file);
}

}  // namespace

RunsToExport runs_to_export(const store::RunStore& store, const RunSelection& selection, bool finished,
                            const std::set<store::RunId>& known) {
  RunsToExport chosen;
  for (const store::RunRecord& run : selection.is_empty() ? store.runs() : select_runs(store, selection)) {
    if (known.contains(run.id)) continue;
    if (!finished || is_finished(run))
      chosen.ids.push_back(run.id);
    else
      chosen.all_are_finished = false;
  }
  return chosen;
}

int export_runs(const ExportOptions& options) {
  const bool prints = options.target == "-";
  if (prints && options.json)
    throw Error(ErrorCode::kBadInput, "--json and a store cannot both go to standard output");
  if (prints && ::isatty(STDOUT_FILENO) == 1)
    throw Error(ErrorCode::kBadInput,
                "a store is no text for a terminal: name a file, or send it on with `> FILE` or `|`");
  const std::set<store::RunId> known = ids_in(options.known_file);
  const fs::path source = store_path(options.selection.db);
  const std::vector<store::RunId> ids =
      runs_to_export(open_store(options.selection.db), options.selection, options.finished, known).ids;
  if (prints) {
    print_store(source, ids);
  } else {
    print_merge(options.json, store::export_runs(source, ids, options.target), options.target);
  }
  return 0;
}

void print_merge(bool json, const store::MergeResult& result, const fs::path& target) {
  if (!json) {
    return print(fmt::format("{}: {} run(s) added, {} were there already\n", printable(target.string()),
                             result.added.size(), result.unchanged.size()));
  }
  print_json({{"schema_version", reports::kJsonSchemaVersion},
              {"store", target.string()},
              {"added", result.added},
              {"unchanged", result.unchanged}});
}

}  // namespace ddbench::cli
