#pragma once

#include <cupti.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "probes/cuda/cuda_probe.h"
#include "probes/cupti/activity_spans.h"
#include "probes/cupti/buffer_pool.h"
#include "probes/cupti/buffer_recording.h"
#include "probes/cupti/call_names.h"
#include "probes/cupti/captured_ranges.h"
#include "probes/cupti/collective_times.h"
#include "probes/cupti/off_windows.h"
#include "probes/cupti/range_table.h"
#include "probes/cupti/subscription.h"

namespace ddbench::cuda {

/// The CudaProbe over CUPTI. One a process at a time: CUPTI's callbacks carry no context.
class CuptiProbe final : public CudaProbe {
 public:
  explicit CuptiProbe(host::Recorder& recorder);
  ~CuptiProbe() override;

  const std::string& unavailable() const noexcept override { return unavailable_; }
  void push(const Range& range) noexcept override;
  void pop() noexcept override;
  bool records_graph_nodes() const noexcept override { return !whole_graphs_; }
  void expect_graphs() noexcept override { expects_graphs_ = true; }
  bool follow_capture(bool follow) noexcept override;
  void set_enabled(bool enabled) noexcept override;
  void flush() noexcept override;
  ProbeCounters stop() noexcept override;

 private:
  void start();
  void trace_in_hardware() noexcept;
  void report_subscription();
  void enable(bool on) noexcept;
  void keep_out(bool begins) noexcept;
  void flush_now_and_then();
  void flush_all(std::uint32_t flags) noexcept;
  void follow_clock() noexcept;
  void let_go() noexcept;
  void flush_finished() noexcept;
  std::uint64_t records_so_far() noexcept;
  static void end_hardware_trace() noexcept;
  std::uint64_t note_dropped(CUcontext context, std::uint32_t stream) noexcept;
  void take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes);
  void record(const Span& span, std::string_view name);
  void note_node(bool is_clone, const CUpti_GraphData& graph) noexcept;
  static void CUPTIAPI graph_callback(void* probe, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                      const void* data);
  static void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records);
  static void CUPTIAPI buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                        std::size_t bytes, std::size_t valid_bytes);

  static std::atomic<CuptiProbe*> active;

  host::Recorder& recorder_;
  std::string unavailable_;
  std::atomic<bool> stopped_ = false;
  std::atomic<bool> enabled_ = false;
  std::uint32_t version_ = 0;               ///< of the CUPTI that runs
  const bool whole_graphs_;                   ///< one record for each graph's launch
  bool has_hardware_events_ = false;
  std::atomic<bool> expects_graphs_ = false;  ///< captured ones, or some that will be
  std::atomic<bool> has_paused_ = false;      ///< the recording of kernels was ended once
  std::atomic<bool> is_filtering_ = false;  ///< in a probe-off window in which CUPTI goes on recording
  Subscription cupti_;
  BufferPool buffers_;
  RangeTable ranges_;
  CollectiveTimes collective_times_;
  CapturedRanges captured_ranges_;
  CallNames call_names_;
  std::unique_ptr<BufferRecording> recording_;  // nullptr: no recording requested

  std::mutex flush_mutex_;  // no callback takes it
  std::mutex mutex_;        // guards the following: buffers are converted one after the other
  Range found_range_;
  Range found_node_;
  OffWindows off_windows_;
  ActivitySpans spans_;
  std::unordered_map<std::string, std::uint32_t> name_ids_;
  host::Recorder::Track& compute_;
  host::Recorder::Track& communication_;
  host::Recorder::Track& main_;
  std::uint64_t dropped_records_ = 0;
  std::uint64_t since_drain_ = 0;

  std::mutex stop_mutex_;
  std::condition_variable stopping_;
  bool is_stopping_ = false;
  std::thread flusher_;
};

}  // namespace ddbench::cuda
