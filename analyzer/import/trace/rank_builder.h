#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/import/trace/cpu_calls.h"
#include "analyzer/import/trace/rank_trace.h"
#include "analyzer/import/trace/trace_event.h"
#include "core/name_table.h"

namespace ddbench::imports {

/// What PyTorch calls its operators, the autograd engine's functions, its optimizers and its loaders by; kOther for others.
CallKind call_kind_of(std::string_view name) noexcept;

/// Builds the spans of one rank from the events of its trace, in any order. GPU activity is joined with the
/// calls that launched it by their correlation, after all events were added.
class RankBuilder {
 public:
  explicit RankBuilder(const std::filesystem::path& file) { trace_.file = file; }

  // On a GPU. A kernel is a collective when its arguments or its name say so. Collectives of several streams, of which the trace
  // states no group, are of unknown groups.
  void add_kernel(const TraceEvent& event);
  void add_copy(const TraceEvent& event);

  /// A call of CUDA or HIP, by its name a launch or one that waits.
  void add_launch(const TraceEvent& event);
  /// `id`: CpuCall::id. Throws Error{kBadInput} naming the file for more than 65535 threads.
  void add_call(const TraceEvent& event, CallKind kind, std::uint64_t id);
  /// An operator, a function of the autograd engine, or a range around such.
  void add_operator(const TraceEvent& event, CallKind kind);
  /// The call that passes a collective to NCCL. `name` identifies it: "all_reduce", "ncclAllReduce". `group`
  /// and its size apply to the kernel if it does not state its own.
  void add_enqueued(const TraceEvent& event, std::string_view name, std::uint64_t bytes, std::string group = {},
                    int group_size = 0);
  /// A collective that a backend on the CPU reports.
  void add_host_collective(const TraceEvent& event, std::string_view backend, std::string_view name, std::uint64_t bytes);
  /// Once for each number; repetitions are ignored.
  void add_step(const TraceEvent& event, std::uint64_t number);

  TraceInfo& info() { return trace_.info; }
  void set_hash(std::uint64_t hash) { trace_.hash = hash; }
  void set_clock(std::string clock) { trace_.clock = std::move(clock); }
  void note(std::string note) { trace_.notes.push_back(std::move(note)); }

  /// All that was added, once.
  RankTrace finish();

 private:
  /// The details of the launched kernel as stated by the call to NCCL, for kernels that do not state them.
  struct EnqueuedCollective {
    std::string_view function;
    std::uint64_t bytes = 0;
    std::string group;
    int group_size = 0;
  };
  struct DeviceWork {
    std::uint64_t correlation = 0;  ///< 1 + the correlation of the call; 0: none
    std::size_t span = 0;
  };

  std::size_t add_span(const TraceEvent& event, SpanKind kind, Lane lane, std::string_view name);
  void add_work(const TraceEvent& event, std::size_t span);
  void add_collective(TraceCollective collective, const TraceEvent& event);
  std::uint16_t thread(std::int64_t id);
  void find_phases(const std::vector<Launch>& launches);
  void describe_collective(TraceCollective& collective, const Launch& launch);
  void find_unknown_groups();
  void count_lost(const std::vector<Launch>& launches);
  void add(const std::vector<Span>& spans);
  void name(std::vector<Span>& spans, std::string_view name);
  void add_base();

  RankTrace trace_;
  NameTable names_;
  std::vector<CpuCall> calls_;
  std::unordered_map<std::int64_t, std::uint16_t> threads_;
  std::unordered_set<std::uint16_t> step_threads_;
  std::unordered_set<std::uint64_t> backward_ids_;
  std::unordered_set<std::uint64_t> steps_;
  std::vector<EnqueuedCollective> enqueued_;
  std::vector<DeviceWork> work_;
  std::vector<std::uint64_t> launched_kernels_;
};

}  // namespace ddbench::imports
