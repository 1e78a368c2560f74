#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/run_case/records.h"

namespace ddbench::imports {

struct KinetoOptions {
  std::string name;  ///< of the program; empty: that of the first file, without rank and endings
  std::int64_t batch_per_gpu = 1;
  int warmup = 0;  ///< steps that do not count: a profiler's schedule has left out those of the program's begin
};

struct KinetoImport {
  store::RunId run;
  std::string sweep_id;        ///< "kineto-" and a hash of the files
  bool already_there = false;  ///< `run` is stored already, whatever the options: nothing was changed
  int ranks = 0;               ///< whose traces are here
  int world_size = 0;
};

/// Called before each file is read: `done` of `all` were.
using FileProgress = std::function<void(std::size_t done, std::size_t all)>;

/// The files *.json and *.json.gz of each folder, in order, and each file as it is. Throws Error{kBadInput} for a folder
/// without any.
std::vector<std::filesystem::path> trace_files(const std::vector<std::filesystem::path>& files_and_folders);

/// Makes one run of the traces that PyTorch's profiler wrote on the ranks of one job, a file a rank. Steps are those that
/// the profiler marked (ProfilerStep#), else what repeats itself (analyzer::assign_program_steps). Compute is kernels, by
/// the pass in which they were launched; in a trace without kernels it is PyTorch's operators. All or nothing; nothing is
/// written before all files were read. Throws as read_rank_trace, put_together, keep_common_steps and RunStore::open.
KinetoImport import_kineto(const std::filesystem::path& store_file, const std::vector<std::filesystem::path>& files,
                           const KinetoOptions& options, const FileProgress& progress = {});

}  // namespace ddbench::imports
