#include "ddbench/experiment/import_spools.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <vector>

#include "ddbench/analyzer/finalize.h"
#include "ddbench/experiment/program_ingest.h"
#include "ddbench/host/spool.h"
#include "ddbench/host/spool_origin.h"
#include "ddbench/launch/run_directory.h"
#include "ddbench/record/error.h"
#include "ddbench/record/program_case.h"
#include "ddbench/store/maintenance.h"
#include "ddbench/store/run_store.h"

namespace ddbench::experiment {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& where, const std::string& why) {
  throw Error(ErrorCode::kBadInput, fmt::format("{}: {}", where.string(), why), 0, where.string());
}

/// A folder's spools by what their heads say.
struct Spools {
  std::map<int, host::SpoolOrigin> ranks;
  std::vector<std::string> machines;  ///< boot ids, that of the lowest rank first
  std::string identity;               ///< of these files and no others
  fs::file_time_type newest = fs::file_time_type::min();

  int ranks_per_machine() const { return static_cast<int>(ranks.size() / machines.size()); }
};

std::vector<fs::path> spools_in(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".spool") files.push_back(entry.path());
  }
  if (error) refuse(folder, "this folder cannot be read: " + error.message());
  if (files.empty()) refuse(folder, "there is no rank<N>.<pid>.spool here; did the program write elsewhere?");
  std::sort(files.begin(), files.end());
  return files;
}

void take_head(const fs::path& file, Spools& spools) {
  const host::SpoolReader reader(file);
  const auto origin = host::origin_from(reader.run_id());
  if (reader.rank() < 0) refuse(file, "it ends before it says which rank it is of");
  if (!origin) refuse(file, "it is of a run of ddbench's own, which stores it by itself");
  spools.ranks.try_emplace(reader.rank(), *origin);
}

/// Ranks count up from 0, and every machine has as many.
void check_ranks(const fs::path& folder, const Spools& spools) {
  std::vector<int> missing;
  for (int rank = 0; rank < spools.ranks.rbegin()->first; ++rank) {
    if (!spools.ranks.contains(rank)) missing.push_back(rank);
  }
  if (!missing.empty()) {
    refuse(folder, fmt::format("spools of ranks up to {} are here, but none of rank {}: copy those of all "
                               "machines into one folder",
                               spools.ranks.rbegin()->first, fmt::join(missing, ", ")));
  }
  std::map<std::string, int> on_machine;
  for (const auto& [rank, origin] : spools.ranks) ++on_machine[origin.boot_id];
  const auto [fewest, most] = std::minmax_element(on_machine.begin(), on_machine.end(),
                                                  [](auto& a, auto& b) { return a.second < b.second; });
  if (fewest->second != most->second) {
    refuse(folder, fmt::format("one machine has {} ranks and another one {}: every one must have as many",
                               fewest->second, most->second));
  }
}

Spools read_heads(const fs::path& folder) {
  Spools spools;
  std::uintmax_t bytes = 0;
  const std::vector<fs::path> files = spools_in(folder);
  for (const fs::path& file : files) {
    take_head(file, spools);
    bytes += fs::file_size(file);
    spools.newest = std::max(spools.newest, fs::last_write_time(file));
  }
  check_ranks(folder, spools);
  for (const auto& [rank, origin] : spools.ranks) {
    const auto known = std::find(spools.machines.begin(), spools.machines.end(), origin.boot_id);
    if (known == spools.machines.end()) spools.machines.push_back(origin.boot_id);
  }
  spools.identity = fmt::format("spools-{:.8}-{}-{}-{}", spools.machines.front(),
                                files.front().stem().string(), files.size(), bytes);
  return spools;
}

/// Where a rank was; on one machine all have one clock.
std::vector<store::RankRecord> rank_records(const Spools& spools) {
  std::map<std::string, int> placed;
  std::vector<store::RankRecord> records;
  for (const auto& [rank, origin] : spools.ranks) {
    store::RankRecord record;
    record.rank = rank;
    record.local_rank = placed[origin.boot_id]++;
    record.node = static_cast<int>(std::find(spools.machines.begin(), spools.machines.end(), origin.boot_id) -
                                   spools.machines.begin());
    record.host = origin.host;
    record.clock.shared_clock = spools.machines.size() == 1;
    record.outcome = "ok";
    records.push_back(record);
  }
  return records;
}

store::RunRecord record_of(const Spools& spools, const fs::path& folder, const SpoolImportOptions& options) {
  store::RunRecord run;
  run.id = store::new_run_id();
  run.sweep_id = spools.identity;
  set_program(run.run_case,
              {options.name.empty() ? fs::weakly_canonical(folder).filename().string() : options.name});
  run.run_case.nodes = static_cast<int>(spools.machines.size());
  run.run_case.gpus_per_node = spools.ranks_per_machine();
  run.run_case.batch_per_gpu = options.batch_per_gpu;
  run.run_case.warmup = options.warmup;
  validate(run.run_case);
  run.provenance = ProvenanceSet{Provenance::kMeasured};
  run.environment.facts["import.folder"] = folder.string();
  const auto newest = std::chrono::file_clock::to_sys(spools.newest).time_since_epoch();
  run.finished_wall_ns = run.started_wall_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(newest).count();
  return run;
}

void store_run(store::RunStore& store, store::RunRecord run, const Spools& spools, const fs::path& folder) {
  store.create_run(run);
  ProgramRecording recording = ingest_program(store, run, folder);
  std::vector<store::RankRecord> ranks = rank_records(spools);
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i].dropped_spans = recording.dropped_spans.at(i);
  store.put_ranks(run.id, ranks);
  run.environment.facts.merge(recording.facts);
  recording.notes.push_back("recorded by NCCL's profiler alone, without `ddbench run`");
  for (std::size_t i = 0; i < recording.notes.size(); ++i) {
    run.environment.facts[fmt::format("note.{}", i + 1)] = recording.notes[i];
  }
  run.state = store::RunState::kDone;
  store.update_run(run);
  analyzer::finalize_run(store, run.id);
}

bool is_stored(const fs::path& store_file, const std::string& sweep_id) {
  std::error_code ignored;
  if (!fs::exists(store_file, ignored)) return false;
  const auto store = store::RunStore::open(store_file, store::OpenMode::kReadOnly);
  return !store.runs({.sweep_id = sweep_id, .limit = 1}).empty();
}

}  // namespace

SpoolImport import_spools(const fs::path& store_file, const fs::path& folder,
                          const SpoolImportOptions& options) try {
  const Spools spools = read_heads(folder);
  SpoolImport result{
      {}, spools.identity, static_cast<int>(spools.ranks.size()), static_cast<int>(spools.machines.size())};
  if (is_stored(store_file, spools.identity)) return result;
  const store::RunRecord run = record_of(spools, folder, options);
  // A store of its own, then merged: that is the one transaction.
  const launch::RunDirectory staging(launch::run_directory_root(), run.id);
  const fs::path staged = staging.path() / "import.db";
  {
    auto store = store::RunStore::open(staged, store::OpenMode::kReadWrite);
    store_run(store, run, spools, folder);
  }
  store::merge_stores(store_file, std::vector{staged});
  result.run = run.id;
  return result;
} catch (const Error& error) {
  // To who imports it a damaged spool is a wrong file, and no run that failed.
  const bool is_damaged = error.code() == ErrorCode::kRunFailed && error.where().ends_with(".spool");
  if (!is_damaged) throw;
  throw Error(ErrorCode::kBadInput, error.message(), error.native_code(), error.where());
}

}  // namespace ddbench::experiment
