#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/program/program_steps.h"
#include "analyzer/import/trace/trace_info.h"
#include "core/run_case/records.h"

namespace ddbench::imports {

/// What is known of a communication of a trace beside its span.
struct TraceCollective {
  std::size_t span = 0;       ///< its place among the spans
  std::string_view function;  ///< ddbench's word; empty: not known
  std::string group;          ///< distinguishes process groups of a job; empty: not stated in the trace
  int group_size = 0;         ///< 0: not known
  bool is_group_known = true;  ///< false: it may be of any of several groups, and is not joined
  std::int64_t stream = -1;    ///< of the GPU; -1: not stated
  std::optional<std::uint64_t> sequence;  ///< as PyTorch counts in the group
  std::int64_t enqueued_ns = 0;           ///< when the program issued it, else when it began
};

/// What a trace has in place of kernels. kNone: no computation at all.
enum class ComputeSource : std::uint8_t { kKernels, kOperators, kNone };

/// What the marks of steps are taken from, where it is not the program that set them.
struct MarkedBy {
  double confidence = 0;
  std::string pattern;  ///< "20 of 22 tensors are reduced 100 times, once a step"; empty: the program marked them
};

/// One trace, reduced to spans. Times are as in the file with its base added: nanoseconds since 1970, or since the
/// profiler's begin where the file does not say.
struct RankTrace {
  std::filesystem::path file;
  std::uint64_t hash = 0;
  std::string clock;  ///< traces with the same text have one clock; empty: one of its own
  TraceInfo info;
  ComputeSource compute = ComputeSource::kOperators;
  /// On GPUs: kernels, copies, and the host's time; without: operators, Gloo's and MPI's collectives, and the host's time.
  /// In order of what they are, not of time.
  analyzer::ProgramRank spans;
  std::vector<Span> steps;  ///< as the profiler marked them; `bytes` is their number, "ProfilerStep#7"
  MarkedBy marked_by;
  std::vector<TraceCollective> collectives;
  std::size_t collectives_of_unknown_group = 0;  ///< TraceCollective::is_group_known
  /// Rows that one trace has for all ranks; where there are any, they are the run's.
  std::vector<store::CollectiveRecord> reported_collectives;
  std::size_t kernels_without_launch = 0;  ///< the trace lacks their call: pass not known
  std::size_t launches_without_kernel = 0;  ///< kernels that were launched before the last kernel and are not there
  std::size_t kernels = 0;
  std::vector<std::string> notes;  ///< notes for the user
  std::map<int, std::size_t> kernels_by_device;  ///< as the trace numbers GPUs
};

}  // namespace ddbench::imports
