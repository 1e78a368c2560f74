#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/import/trace/rank_trace.h"
#include "core/run_case/records.h"

namespace ddbench::imports {

struct TraceOptions {
  std::string name;  ///< of the program; empty: that of the first file, without rank and endings
  std::int64_t batch_per_gpu = 1;
  int warmup = 0;         ///< steps that do not count: a profiler's schedule has left out those of the program's begin
  int gpus_per_node = 0;  ///< 0: as in the traces, see find_placement
};

/// What recorded the traces, in terms that users know.
struct TraceOrigin {
  std::string_view id;                ///< of the format: "kineto"
  std::string_view gives_sizes_with;  ///< what makes the tool write the bytes of collectives: "PyTorch writes them with record_shapes=True"
  std::string_view records_kernels_with;  ///< "was ProfilerActivity.CUDA on?"
  std::string_view marks_steps_with;      ///< "Call profiler.step() after each one to mark them"
};

struct TraceImport {
  store::RunId run;
  std::string sweep_id;        ///< the format's id and a hash of the files
  bool already_there = false;  ///< `run` is already stored with any options: nothing was changed
  int ranks = 0;               ///< whose traces are here
  int world_size = 0;
  bool placement_known = true;  ///< false: how many GPUs a node has is not known
};

/// Called before each file is read: `done` of `all` were.
using FileProgress = std::function<void(std::size_t done, std::size_t all)>;

/// Makes one run from the traces of the ranks of one job. Steps are the marked ones, else the repeating
/// pattern (analyzer::assign_program_steps). Compute is kernels, by the pass in which they were launched; in
/// a trace without kernels it is PyTorch's operators. All or nothing. Throws as put_together, find_placement,
/// keep_common_steps, check_joined and RunStore::open.
TraceImport import_traces(const std::filesystem::path& store_file, std::vector<RankTrace> traces, const TraceOptions& options,
                          const TraceOrigin& origin);

}  // namespace ddbench::imports
