#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analyzer/import/trace/rank_trace.h"

namespace ddbench::imports {

/// An NCCL communicator as a process reported it at its creation.
struct NsysCommunicator {
  int rank = 0;
  int ranks = 0;
};

/// A process of an export that used a GPU.
struct NsysRank {
  RankTrace trace;  ///< without its rank, but with host and GPUs of the machine
  std::int64_t pid = 0;
  int device = 0;  ///< the GPU that most of its kernels ran on
  std::map<std::uint64_t, NsysCommunicator> communicators;
  std::string why_no_steps;  ///< it lacks the step range, and what it has instead; empty: there are steps, or none was asked for
};

/// Reads an SQLite export of Nsight Systems: kernels, copies and fills, calls of CUDA, NVTX ranges of PyTorch
/// (torch.autograd.profiler.emit_nvtx) and of NCCL. Steps are the NVTX ranges `step_range` ("step", also "step 12"); empty:
/// ProfilerStep#N. Ordered by GPU, then by process. Throws Error{kBadInput} that names the file, and the table with the value
/// where one is wrong: no SQLite export, no work of a GPU, times that end before they begin.
std::vector<NsysRank> read_nsys_export(const std::filesystem::path& file, const std::string& step_range);

}  // namespace ddbench::imports
