#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/diagnose/hang/hang.h"
#include "analyzer/import/imported_run.h"

namespace ddbench::imports {

using analyzer::find_hang;
using analyzer::Hang;
using analyzer::MissingRank;

struct FlightRecording {
  ImportedRun run;      ///< failed, without steps; its reason and its notes state which ranks are missing
  Hang hang;
  std::string content;  ///< what distinguishes these dumps from others: for import_runs
};

/// Reads the dumps that PyTorch's Flight Recorder left in a folder, one file per rank ("_dump_12",
/// "nccl_trace_rank_3"; files whose names do not end with a rank are ignored). Throws Error{kBadInput} that
/// names the folder or file: none there, two of one rank, a damaged one, or dumps of several jobs (versions
/// of NCCL, or sizes of a process group, differ).
FlightRecording read_flight_recorder(const std::filesystem::path& folder);

}  // namespace ddbench::imports
