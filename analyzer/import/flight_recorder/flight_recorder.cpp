#include "analyzer/import/flight_recorder/flight_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "analyzer/attribution/communicators.h"
#include "analyzer/import/flight_recorder/dump.h"
#include "core/error.h"
#include "core/facts/facts.h"
#include "core/run_case/program_case.h"
#include "core/span_limits.h"
#include "core/text/number.h"
#include "core/text/text_hash.h"

namespace ddbench::imports {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& where, const std::string& why) {
  throw Error(ErrorCode::kBadInput, fmt::format("{}: {}", where.string(), why), 0, where.string());
}

/// 12 of "_dump_12", "rank12", "rank_3.json".
std::optional<int> rank_of(const fs::path& file) {
  std::string name = file.filename().string();
  for (const std::string_view ending : {".json", ".pickle", ".pkl"}) {
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  }
  const std::size_t last = name.find_last_not_of("0123456789");
  const bool is_dump = name.find("dump") != std::string::npos || name.find("rank") != std::string::npos;
  if (!is_dump || last == std::string::npos) return std::nullopt;
  return ddbench::number_from<int>(std::string_view(name).substr(last + 1));
}

std::map<int, fs::path> files_of(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) refuse(folder, "this is no folder: name the one that the dumps are in");
  std::map<int, fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::optional<int> rank = rank_of(entry.path());
    std::error_code not_a_file;
    if (!rank || !entry.is_regular_file(not_a_file)) continue;
    if (*rank >= kMostRanks) refuse(entry.path(), fmt::format("its name says that it is of rank {}, and there are {} at most", *rank, kMostRanks));
    const auto [place, is_new] = files.try_emplace(*rank, entry.path());
    if (!is_new) refuse(entry.path(), fmt::format("it is of rank {}, and so is {}", *rank, place->second.string()));
  }
  if (error) refuse(folder, "this folder cannot be read: " + error.message());
  if (files.empty()) refuse(folder, "there is no dump of a rank here, such as nccl_trace_rank_0 or _dump_0");
  return files;
}

void check_one_job(const std::vector<FlightDump>& dumps) {
  std::map<std::string, const FlightDump*> groups;
  for (const FlightDump& dump : dumps) {
    if (dump.nccl_version != dumps.front().nccl_version || dump.version != dumps.front().version) {
      refuse(dump.file, fmt::format("it is not of the same job as {}: other versions", dumps.front().file));
    }
    for (const auto& [name, group] : dump.groups) {
      // Several groups may have the same name, with different ranks.
      if (!std::binary_search(group.ranks.begin(), group.ranks.end(), dump.rank) && !group.ranks.empty()) {
        refuse(dump.file, fmt::format("it is of rank {}, and says that it is in process group {} of ranks {}", dump.rank, name,
                                      analyzer::ranks_in_words(group.ranks)));
      }
    }
  }
}

std::string verdict_of(const Hang& hang) {
  if (hang.waiting == 0) return "no operation was pending";
  std::vector<int> ranks;
  for (const MissingRank& missing : hang.missing) ranks.push_back(missing.rank);
  if (!ranks.empty()) {
    return fmt::format("collectives did not go on: rank{} {} missing", ranks.size() == 1 ? "" : "s",
                       analyzer::ranks_in_words(ranks) + (ranks.size() == 1 ? " is" : " are"));
  }
  return hang.entered_by_all.empty() ? "collectives did not go on, and the dumps do not say for whom"
                                     : "collectives did not end though all their ranks had come";
}

store::RunRecord record_of(const std::vector<FlightDump>& dumps, const Hang& hang, const fs::path& folder) {
  store::RunRecord run;
  set_program(run.run_case, {fs::weakly_canonical(folder).filename().string()});
  set_unplaced(run.run_case, std::max(1, hang.world_size));
  run.run_case.warmup = 0;
  run.run_case.steps = 1;
  validate(run.run_case);
  run.state = store::RunState::kFailed;
  run.reason = verdict_of(hang);
  run.provenance = {Provenance::kImported};
  std::vector<std::string> notes;
  for (const MissingRank& missing : hang.missing) notes.push_back(fmt::format("rank {} {}", missing.rank, missing.why));
  if (hang.missing.empty()) notes = hang.entered_by_all;
  notes.push_back(fmt::format("dumps of PyTorch's Flight Recorder ({}) of {} of {} ranks: {} ranks had operations that were "
                              "not done; steps are not known",
                              dumps.front().version, dumps.size(), hang.world_size, hang.waiting));
  for (std::size_t i = 0; i < notes.size(); ++i)
    set_fact(run.environment.facts, fact_key_of<"note.*">(static_cast<int>(i) + 1), notes[i]);
  return run;
}

}  // namespace

FlightRecording read_flight_recorder(const fs::path& folder) {
  FlightRecording recording;
  std::vector<FlightDump> dumps;
  std::uint64_t hash = kHashBegin;
  for (const auto& [rank, file] : files_of(folder)) {
    const std::string bytes = read_file(file);
    FlightDump dump = read_flight_dump(bytes, file.string());
    if (dump.rank >= 0 && dump.rank != rank) refuse(file, fmt::format("it says that it is of rank {}", dump.rank));
    dump.rank = rank;
    dumps.push_back(std::move(dump));
    hash = ddbench::hash_text(bytes, ddbench::hash_text(fmt::format("rank {}: {} bytes\n", rank, bytes.size()), hash));
  }
  recording.content = fmt::format("flight-recorder {:016x}", hash);
  check_one_job(dumps);
  recording.hang = find_hang(dumps);
  recording.run.run = record_of(dumps, recording.hang, folder);
  return recording;
}

}  // namespace ddbench::imports
