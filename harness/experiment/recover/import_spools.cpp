#include "harness/experiment/recover/import_spools.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <vector>

#include "analyzer/finalize/finalize.h"
#include "analyzer/store/maintenance/maintenance.h"
#include "analyzer/store/rows/run_store.h"
#include "core/error.h"
#include "core/facts/facts.h"
#include "core/files/temporary_directory.h"
#include "core/nccl_event.h"
#include "core/run_case/program_case.h"
#include "core/run_case/scheduler_job.h"
#include "core/text/number.h"
#include "core/text/text_hash.h"
#include "harness/experiment/ingest/launch_notes.h"
#include "harness/experiment/ingest/program_spools.h"
#include "probes/recorder/spool_origin.h"

namespace ddbench::experiment {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& where, const std::string& why) {
  throw Error(ErrorCode::kBadInput, fmt::format("{}: {}", where.string(), why), 0, where.string());
}

/// One kernel, or a host whose kernel is not known.
struct SourceMachine {
  host::SpoolOrigin origin;
  std::vector<int> ranks;  ///< ascending
};

/// Whose spools a folder has.
struct Sources {
  std::vector<SourceMachine> machines;                      ///< that of rank 0 first
  std::vector<std::pair<std::size_t, std::size_t>> places;  ///< by rank: machine, and place on it

  int ranks_per_machine() const { return static_cast<int>(machines.front().ranks.size()); }
  bool share_a_clock() const { return machines.size() == 1 && !machines.front().origin.boot_id.empty(); }
};

void check_origin(const ProcessRecording& process) {
  if (!process.damage.empty()) throw Error(ErrorCode::kBadInput, process.damage, 0, process.file.string());
  if (!process.invalid.empty()) refuse(process.file, process.invalid);
  if (process.run_id.empty()) {
    refuse(process.file,
           "truncated before its header (process killed at start-up?): delete the file if that process was "
           "not a "
           "rank");
  }
  if (!host::origin_from(process.run_id)) {
    refuse(process.file, process.run_id.starts_with("alone")
                             ? "another version of the plug-in wrote it: record again with this one"
                             : "it is of a run of ddbench's own, which stores it by itself");
  }
  if (process.rank < 0) {
    refuse(process.file, fmt::format("it says that it is of rank {}: what was RANK set to?", process.rank));
  }
}

/// The process that is each rank: one that made collectives, or else any.
std::map<int, const ProcessRecording*> ranks_of(const std::vector<ProcessRecording>& processes,
                                                const fs::path& folder) {
  std::map<int, const ProcessRecording*> ranks;
  for (const ProcessRecording& process : processes) {
    check_origin(process);
    const ProcessRecording*& known = ranks[process.rank];
    const bool both = known != nullptr && known->collectives() > 0 && process.collectives() > 0;
    if (both) {
      refuse(folder,
             fmt::format("{} and {} are of the same rank: move the spools of each run into a folder of "
                         "its own",
                         known->file.filename().string(), process.file.filename().string()));
    }
    if (known == nullptr || process.collectives() > 0) known = &process;
  }
  return ranks;
}

/// The size of the largest communicator; 0 if NCCL did not report it.
int reported_ranks(const std::map<int, const ProcessRecording*>& ranks) {
  int most = 0;
  for (const auto& [rank, process] : ranks) {
    for (const std::string& name : process->spans.names) {
      if (!name.starts_with(kNcclRanksName)) continue;
      const auto ranks_of_one = leading_number<int>(std::string_view(name).substr(kNcclRanksName.size()));
      if (ranks_of_one) most = std::max(most, ranks_of_one->value);
    }
  }
  return most;
}

void check_all_are_here(const std::map<int, const ProcessRecording*>& ranks, const fs::path& folder) {
  constexpr const char* kCopyAll = "copy those of all machines into one folder";
  const int here = static_cast<int>(ranks.size());
  const int stated = reported_ranks(ranks);
  if (stated > here) {
    refuse(folder, fmt::format("{} ranks made collectives together, but the spools of {} are here: {}", stated,
                               here, kCopyAll));
  }
  if (ranks.rbegin()->first != here - 1) {
    int missing = 0;
    while (ranks.contains(missing)) ++missing;
    refuse(folder, fmt::format("there is a spool of rank {}, but none of rank {}: {}", ranks.rbegin()->first,
                               missing, kCopyAll));
  }
}

void check_something_was_recorded(const std::map<int, const ProcessRecording*>& ranks,
                                  const fs::path& folder) {
  const bool any = std::any_of(ranks.begin(), ranks.end(),
                               [](const auto& rank) { return !rank.second->spans.spans.empty(); });
  if (!any) refuse(folder, "nothing was recorded: did the program issue collectives, and was NCCL's profiler plug-in loaded?");
}

Sources sources_of(const std::map<int, const ProcessRecording*>& ranks, const fs::path& folder) {
  Sources sources;
  for (const auto& [rank, process] : ranks) {
    const host::SpoolOrigin origin = *host::origin_from(process->run_id);
    const auto same = [&](const SourceMachine& machine) {
      return machine.origin.boot_id == origin.boot_id &&
             (!origin.boot_id.empty() || machine.origin.host == origin.host);
    };
    auto machine = std::find_if(sources.machines.begin(), sources.machines.end(), same);
    if (machine == sources.machines.end()) machine = sources.machines.insert(machine, {origin, {}});
    sources.places.emplace_back(machine - sources.machines.begin(), machine->ranks.size());
    machine->ranks.push_back(rank);
  }
  for (const SourceMachine& machine : sources.machines) {
    if (machine.ranks.size() == sources.machines.front().ranks.size()) continue;
    refuse(folder, fmt::format("{} has {} ranks and {} has {}: every machine must have as many",
                               sources.machines.front().origin.host, sources.machines.front().ranks.size(),
                               machine.origin.host, machine.ranks.size()));
  }
  return sources;
}

/// Of what was recorded, wherever it lies. Times are nanoseconds since each machine's start.
std::string identity_of(const std::map<int, const ProcessRecording*>& ranks) {
  std::uint64_t hash = kHashBegin;
  for (const auto& [rank, process] : ranks) {
    hash = hash_text(process->run_id, hash);
    const std::vector<Span>& spans = process->spans.spans;
    hash = hash_text({reinterpret_cast<const char*>(spans.data()), spans.size() * sizeof(Span)}, hash);
  }
  return fmt::format("spools-{:016x}", hash);
}

std::vector<store::RankRecord> rank_records(const Sources& sources) {
  std::vector<store::RankRecord> records;
  for (const auto& [machine, place] : sources.places) {
    store::RankRecord record;
    record.rank = static_cast<int>(records.size());
    record.local_rank = static_cast<int>(place);
    record.node = static_cast<int>(machine);
    record.host = sources.machines[machine].origin.host;
    record.clock.shared_clock = sources.share_a_clock();
    records.push_back(record);
  }
  return records;
}

std::int64_t newest_wall_ns(const std::map<int, const ProcessRecording*>& ranks) {
  fs::file_time_type newest = fs::file_time_type::min();
  for (const auto& [rank, process] : ranks) newest = std::max(newest, fs::last_write_time(process->file));
  const auto since_epoch = std::chrono::file_clock::to_sys(newest).time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count();
}

store::RunRecord record_of(const Sources& sources, const fs::path& folder,
                           const SpoolImportOptions& options) {
  const std::string name =
      options.name.empty() ? fs::weakly_canonical(folder).filename().string() : options.name;
  if (name.empty()) refuse(folder, "this folder has no name: say what the program is with --name");
  store::RunRecord run;
  run.id = store::new_run_id();
  set_fact(run.environment.facts, fact_key<"owner.user">, current_user());
  set_program(run.run_case, {name});
  run.run_case.nodes = static_cast<int>(sources.machines.size());
  run.run_case.gpus_per_node = sources.ranks_per_machine();
  run.run_case.batch_per_gpu = options.batch_per_gpu;
  run.run_case.warmup = options.warmup;
  validate(run.run_case);
  run.provenance = ProvenanceSet{Provenance::kMeasured};
  set_fact(run.environment.facts, fact_key<"import.folder">, folder.string());
  set_fact(run.environment.facts, fact_key<"transport">, logged_transports(folder));
  return run;
}

void store_run(store::RunStore& store, store::RunRecord run, const Sources& sources,
               std::vector<ProcessRecording> processes) {
  store.create_run(run);
  ProgramRecording recording = ingest_recordings(store, run, std::move(processes));
  std::vector<store::RankRecord> ranks = rank_records(sources);
  std::vector<int> without_end;
  for (store::RankRecord& rank : ranks) {
    const ProgramRecording::Rank& recorded = recording.ranks.at(static_cast<std::size_t>(rank.rank));
    rank.dropped_spans = recorded.dropped_spans;
    rank.outcome = recorded.ended ? "ok" : "ended without a word, or records still";
    if (!recorded.ended) without_end.push_back(rank.rank);
  }
  store.put_ranks(run.id, ranks);
  run.environment.facts.merge(recording.facts);
  recording.notes.push_back("recorded by NCCL's profiler alone, without `ddbench run`");
  if (!without_end.empty()) {
    recording.notes.push_back(
        fmt::format("the spools of {} of {} ranks (the first is rank {}) have no end: they "
                    "were killed, or record still",
                    without_end.size(), ranks.size(), without_end.front()));
  }
  add_notes(recording.notes, run.environment.facts);
  run.state = store::RunState::kDone;
  store.update_run(run);
  analyzer::finalize_run(store, run.id);
}

std::vector<ProcessRecording> read_folder(const fs::path& folder) try {
  if (!fs::is_directory(folder)) refuse(folder, "this is no folder: name the one that the spools are in");
  std::vector<ProcessRecording> processes = read_spools(folder, FileNames::kOfRanks);
  if (processes.empty())
    refuse(folder, "there is no rank<N>.<pid>.spool here; did the program write elsewhere?");
  return processes;
} catch (const fs::filesystem_error& error) {
  refuse(folder, "this folder cannot be read: " + error.code().message());
} catch (const Error& error) {
  // Whoever imports what is no spool has given a wrong file, and no run has failed.
  throw Error(ErrorCode::kBadInput, error.message(), error.native_code(), error.where());
}

}  // namespace

SpoolImport import_spools(const fs::path& store_file, const fs::path& folder,
                          const SpoolImportOptions& options) {
  std::vector<ProcessRecording> processes = read_folder(folder);
  const std::map<int, const ProcessRecording*> ranks = ranks_of(processes, folder);
  check_all_are_here(ranks, folder);
  check_something_was_recorded(ranks, folder);
  const Sources sources = sources_of(ranks, folder);
  store::RunRecord run = record_of(sources, folder, options);
  run.sweep_id = identity_of(ranks);
  run.started_wall_ns = run.finished_wall_ns = newest_wall_ns(ranks);
  SpoolImport result{run.id, run.sweep_id, false, static_cast<int>(ranks.size()),
                     static_cast<int>(sources.machines.size())};
  if (const store::RunId known = store::run_of_sweep(store_file, run.sweep_id); !known.empty()) {
    result.run = known;
    result.already_there = true;
    return result;
  }
  // A store of its own, then merged: that is the one transaction.
  const TemporaryDirectory staging(temporary_root(), run.id);
  const fs::path staged = staging.path() / "import.db";
  {
    auto store = store::RunStore::open(staged, store::OpenMode::kReadWrite);
    store_run(store, run, sources, std::move(processes));
  }
  const store::RunId known = store::import_sweep(store_file, staged, run.sweep_id).already_there;
  result.already_there = !known.empty();
  if (result.already_there) result.run = known;
  return result;
}

}  // namespace ddbench::experiment
