#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "probes/preload/session/thread_range.h"
#include "probes/recorder/recorder.h"

namespace ddbench::cuda {

/// What the device does for the calls that a thread makes between push() and pop().
using Range = inject::Range;

/// The variable that holds "graph" where one span for each launch of a graph is enough, instead of one for
/// each of its nodes: it costs less.
inline constexpr const char* kGpuDetailVariable = "DDBENCH_GPU_DETAIL";
/// The variable that holds "0" where CUPTI is to time kernels without the hardware's help (Blackwell).
inline constexpr const char* kHardwareEventsVariable = "DDBENCH_CUPTI_HES";

/// What a probe recorded, and what it could not use.
struct ProbeCounters {
  std::uint64_t records = 0;           ///< that CUPTI delivered
  std::uint64_t spans = 0;             ///< that were recorded from them
  std::uint64_t dropped_records = 0;   ///< that CUPTI lost: all buffers were full
  std::uint64_t refused_buffers = 0;   ///< requested by CUPTI when it already had the maximum
  std::uint64_t invalid_times = 0;     ///< records without a begin or end, or that ended before they began
  std::uint64_t without_range = 0;     ///< spans for which no range was found though ranges were in use
  std::uint64_t recording_errors = 0;  ///< 1: $DDBENCH_CUPTI_RECORDING ended before the program
  std::uint64_t overhead_ns = 0;       ///< overhead as reported by CUPTI
  std::vector<std::string> unknown_kernels;  ///< named nccl*, of no function that ddbench knows
};

/// Records the activity of this process's GPUs, through CUPTI, into a recorder: lanes kDeviceCompute and
/// kDeviceCommunication, times on this process's now_ns(). At most one per process. All functions are
/// thread-safe.
class CudaProbe {
 public:
  virtual ~CudaProbe() = default;

  /// Empty while it records. Otherwise the reason why it cannot: another tool holds CUPTI, no driver. Then
  /// NCCL's profiler still receives ranges and pauses, and all other functions do nothing: time enqueued work
  /// with events, and report the reason with the run.
  virtual const std::string& unavailable() const noexcept = 0;
  bool records() const noexcept { return unavailable().empty(); }

  /// Ranges of the calling thread nest; the innermost counts. Ranges of collectives are pushed one at a time
  /// in a process, by the thread that waits for them: NCCL's own threads work in them too. Allocates only
  /// during a capture.
  virtual void push(const Range& range) noexcept = 0;
  virtual void pop() noexcept = 0;

  /// Whether what a graph runs is recorded node by node. If not (kGpuDetailVariable), time it by events.
  virtual bool records_graph_nodes() const noexcept { return true; }
  /// Before the first probe-off window: graphs will be captured. Some versions of CUPTI then go on recording
  /// in such windows, and what they record is left out.
  virtual void expect_graphs() noexcept {}
  /// Between true and false: work that is captured into a graph takes the ranges that are pushed meanwhile,
  /// by one thread. When the graph runs, its work has their kind, bucket and bytes; the step is that of the
  /// range around its launch, and the key of a collective is the sum of both correlations. Returns false if
  /// this is not supported.
  virtual bool follow_capture(bool follow) noexcept = 0;

  /// Between true and false NCCL's profiler reports nothing about collectives that are enqueued. Those that
  /// are captured then run without it: otherwise NCCL would insert host work before each one's kernel, in
  /// every replay.
  virtual void pause_nccl_events(bool /*paused*/) noexcept {}

  /// Begins and ends a probe-off window: nothing of the device is recorded, NCCL's profiler reports nothing,
  /// and neither costs time. Earlier activity is flushed; synchronise the device first, and keep the recorder
  /// enabled until this returns.
  virtual void set_enabled(bool enabled) noexcept = 0;
  /// Everything that the device has finished is in the recorder afterwards. Blocks.
  virtual void flush() noexcept = 0;
  /// Flushes and lets CUPTI go. The recorder may end afterwards. Idempotent.
  virtual ProbeCounters stop() noexcept = 0;
};

/// The probe, if it records device activity.
inline CudaProbe* if_it_records(CudaProbe* probe) noexcept {
  return probe != nullptr && probe->records() ? probe : nullptr;
}

/// A range from construction to destruction; none where there is no probe.
class ScopedRange {
 public:
  ScopedRange(CudaProbe* probe, const Range& range) noexcept : probe_(probe) {
    if (probe_ != nullptr) probe_->push(range);
  }
  ~ScopedRange() {
    if (probe_ != nullptr) probe_->pop();
  }
  ScopedRange(const ScopedRange&) = delete;
  ScopedRange& operator=(const ScopedRange&) = delete;

 private:
  CudaProbe* probe_;
};

/// No events of NCCL's profiler from construction to destruction.
class NcclEventsPaused {
 public:
  explicit NcclEventsPaused(CudaProbe* probe) noexcept : probe_(probe) {
    if (probe_ != nullptr) probe_->pause_nccl_events(true);
  }
  ~NcclEventsPaused() {
    if (probe_ != nullptr) probe_->pause_nccl_events(false);
  }
  NcclEventsPaused(const NcclEventsPaused&) = delete;
  NcclEventsPaused& operator=(const NcclEventsPaused&) = delete;

 private:
  CudaProbe* probe_;
};

}  // namespace ddbench::cuda
