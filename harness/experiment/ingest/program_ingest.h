#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analyzer/store/rows/run_store.h"
#include "harness/experiment/ingest/own_ranks.h"

namespace ddbench::experiment {

/// What became of the spools of a program's processes.
struct ProgramRecording {
  struct Rank {
    std::uint64_t dropped_spans = 0;
    bool ended = false;  ///< in order; a process that was killed leaves a spool without an end
  };
  std::vector<Rank> ranks;
  /// From NCCL's logs (collective::NcclTransports) of all ranks; empty if there is none.
  std::string transport;
  /// For store::Environment::facts: "program.steps_from" (marker, optimizer, pattern or window), "program.steps",
  /// "program.confidence", "program.pattern", "program.outside_steps_ns".
  std::map<std::string, std::string> facts;
  std::vector<std::string> notes;  ///< for people
  OwnRanks own_ranks;
};

/// When the program of a run has ended: moves what its ranks recorded into the store, divided into steps
/// (analyzer::assign_program_steps). Each process has spooled into a file of its own, rank<N>.<pid>.spool,
/// that says which rank it belongs to; of several the rank is the one with most collectives (loaders and
/// shells have none), or, without any, with most spans. What stands before a damaged place of a spool counts,
/// and a note names it. Ranks that the program started by itself (find_own_ranks) are
/// ranks of the run as well: `own_ranks` says so, for take_own_ranks(). Throws Error of the store, or for a file that is no spool.
ProgramRecording ingest_program(store::RunStore& store, const store::RunRecord& run,
                                const std::filesystem::path& run_directory);

}  // namespace ddbench::experiment
