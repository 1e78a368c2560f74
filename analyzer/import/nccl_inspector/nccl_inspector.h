#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/import/imported_run.h"

namespace ddbench::imports {

struct InspectorContent {
  ImportedRun run;
  std::uint64_t hash = 0;  ///< of all files
};

/// Makes one run from the lines that NCCL Inspector (NCCL's profiler plug-in ext-profiler/inspector) wrote on
/// the ranks of one job, one file per process: {"header": {...}, "metadata": {...}, "coll_perf" or
/// "p2p_perf": {...}}. Files may be gzip.
///
/// It is a snapshot: the plug-in keeps the last calls of each communicator, and has no steps. For each
/// function, size and communicator the duration is the median over calls and ranks. A call's transfer is the
/// shortest of its ranks' times (that of the last rank, if all reported theirs), and peer wait is the excess
/// of the others; if only some ranks reported the call, peer wait is unknown, and a note states that the
/// transfer may contain some. A send or receive of a rank is a call by itself, and its peer wait is unknown.
/// Notes state also which calls were not timed by the GPU.
///
/// Throws Error{kBadInput} that names file and line for a line that is none of these, but of one that the end of a file cut off,
/// and for files without any.
InspectorContent read_nccl_inspector(const std::vector<std::filesystem::path>& files, const std::string& name);

}  // namespace ddbench::imports
