#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analyzer/program/program_steps.h"
#include "harness/experiment/ingest/program_ingest.h"

namespace ddbench::experiment {

/// What one process of a program recorded: a spool, read whole.
struct ProcessRecording {
  std::filesystem::path file;
  std::string run_id;
  int rank = -1;  ///< below 0: the file ends before it says so, or says so
  analyzer::ProgramRank spans;
  std::uint64_t dropped = 0;
  bool ended = false;                      ///< else the process was killed, or records still
  std::string damage;                      ///< where the file is damaged: what stands before that is here
  std::string invalid;                     ///< a note: values that were left out
  std::map<std::string, double> counters;  ///< of the GPU and NCCL probes, last reported values

  std::size_t collectives() const;
};

/// What N in the name rank<N>.<pid>.spool is.
enum class FileNames {
  kOfRanks,  ///< the rank: a spool that names another one is not used
  kOfNodes,  ///< the node: of a program that is launched once per node and starts its ranks itself
};

/// Those of all files *.spool of a directory, in the order of their names. Throws Error{kRunFailed} for one
/// that is no spool or cannot be read.
std::vector<ProcessRecording> read_spools(const std::filesystem::path& directory, FileNames names);

/// ingest_program() of what was read.
ProgramRecording ingest_recordings(store::RunStore& store, const store::RunRecord& run,
                                   std::vector<ProcessRecording> processes);

/// The transports by which NCCL's ranks reached each other, from the logs in the directory of all processes
/// that used it (collective::NcclTransports); empty if no log states them.
std::string logged_transports(const std::filesystem::path& directory);

}  // namespace ddbench::experiment
