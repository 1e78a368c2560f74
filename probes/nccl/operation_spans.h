#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "probes/nccl/device_clock.h"
#include "probes/nccl/operations.h"
#include "probes/recorder/recorder.h"

namespace ddbench::nccl {

/// What went otherwise than a pair of start and stop each. Since the process started.
struct PluginCounters {
  std::uint64_t events = 0;      ///< operations that were started
  std::uint64_t unfinished = 0;  ///< whose channels did not all end: aborted, or pushed out by newer ones
  std::uint64_t untimed = 0;     ///< with known enqueueing only: NCCL reported the timers of an earlier one
  std::uint64_t unpaired = 0;    ///< starts below, and stops of, operations that are not known (any more)
  std::uint64_t foreign_proxies = 0;  ///< proxy operations of another process's collectives
  std::uint64_t unknown_functions = 0;
  std::uint64_t unknown_bytes =
      0;  ///< operations whose bytes depend on a number of ranks that NCCL did not report
  std::uint64_t with_phases = 0;      ///< operations of symmetric kernels whose phases were reported
  std::uint64_t initial_sync_ns = 0;  ///< their time until the last channel had all ranks: waiting for peers
  std::uint64_t final_sync_ns = 0;    ///< their time after the last channel was done
};

/// Makes spans of operations, in the process's current recorder. Its owner serialises the calls; they throw
/// the recorder's exceptions.
class OperationSpans {
 public:
  /// A span of kind kNcclEvent, from the first channel's begin to the last one's end. It has no length, and
  /// begins where the operation was enqueued, where no more is known; operations of one kernel then begin
  /// where the first of them was enqueued. And the host's span "nccl_enqueue", of the same key, unless it was
  /// captured.
  void event(const Operation& operation, const DeviceClock& clock);
  /// A call of NCCL's functions, or its launch of a kernel, on the host.
  void call(const Operation& operation);
  void counters(const PluginCounters& counters);
  /// Why the kernels' events are not asked for; empty if they are. Reported with the next span.
  void without_kernels(std::string_view why) noexcept { why_no_kernels_ = why; }
  /// Called when a communicator begins on this rank: reports its size, in a spool that is opened if
  /// necessary.
  void communicator(Communicator& communicator);

 private:
  void record(Span span, const Operation& operation, const std::string& name);

  std::string_view why_no_kernels_;   // static text
  std::string_view reported_no_kernels_;  // to the recorder of generation_
  std::uint32_t reported_ = 0;            // times that the counters were
  int most_ranks_ = 0;                // that were reported to the recorder of generation reported_to_
  unsigned reported_to_ = 0;
  // Of the recorder's generation.
  unsigned generation_ = 0;
  host::Recorder::Track* device_ = nullptr;
  host::Recorder::Track* host_ = nullptr;
  std::unordered_map<std::string, std::uint32_t> name_ids_;
};

}  // namespace ddbench::nccl
