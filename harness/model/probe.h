#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/device/device.h"
#include "probes/cuda/cuda_probe.h"
#include "probes/recorder/recorder.h"

namespace ddbench::workload {

/// A span of an operator that a device has queued, and the stamps about it.
struct QueuedSpan {
  Span span;
  std::size_t begin;
  std::size_t end;
};

/// Spans of operators that a device has queued: what they took is known when the queue has passed them. A
/// CudaProbe that records sees each kernel of an operator; without one, events around the operator time it as a whole.
class QueuedSpans {
 public:
  QueuedSpans(device::Device& device, host::Recorder::Track& track, cuda::CudaProbe* probe)
      : device_(device), track_(track), probe_(probe), kernels_(cuda::if_it_records(probe)) {
    if (probe_ != nullptr) first_work_ = device_.allocate(sizeof(float));
  }

  /// What a span is around: operators of the queue, or uploads beside it.
  enum class Of : std::uint8_t { kOperators, kUploadsAhead };

  /// Returns what end() takes.
  std::size_t begin(const Span& span, Of of) noexcept {
    if (muted_) return 0;
    if (by_stamps_) return stamp(of);
    kernels_->push({span.kind, span.step, span.bucket, span.bytes, span.correlation});
    return 0;
  }
  void end(const Span& span, Of of, std::size_t begin) {
    if (muted_) return;
    if (by_stamps_) {
      spans_.push_back({span, begin, stamp(of)});
    } else {
      kernels_->pop();
    }
  }

  /// Waits for the device and records all spans.
  void record() {
    device_.read_stamps(times_ns_);
    for (const QueuedSpan& queued : spans_) record(queued, times_ns_);
    spans_.clear();
  }
  void record(const QueuedSpan& queued, const std::vector<std::int64_t>& times_ns) noexcept {
    Span span = queued.span;
    span.begin_ns = times_ns[queued.begin];
    span.end_ns = times_ns[queued.end];
    track_.record(span);
  }

  void begin_capture(bool records) noexcept {
    std::swap(spans_, uncaptured_);
    muted_ = !records;
    by_stamps_ = kernels_ == nullptr || !kernels_->records_graph_nodes();
  }
  std::vector<QueuedSpan> end_capture() {
    muted_ = false;
    by_stamps_ = kernels_ == nullptr;
    std::vector<QueuedSpan> captured = std::move(spans_);
    spans_ = std::exchange(uncaptured_, {});
    return captured;
  }

  /// Whether kernels and NCCL's events are recorded from now on. The first copy and the first kernel behind the switch are
  /// made here: with them CUPTI sets itself up again, which no step is to pay for (an H100's steps became 0.5 ms longer).
  void set_enabled(bool enabled) {
    if (probe_ != nullptr && enabled != enabled_) {
      probe_->set_enabled(enabled);
      const float one = 1;
      const device::Tensor work{first_work_.data(), 1, 1, device::DataType::kFloat32};
      device_.upload(&one, work);
      device_.scale(work, 1);
      device_.synchronize();
    }
    enabled_ = enabled;
  }

 private:
  std::size_t stamp(Of of) noexcept {
    return of == Of::kOperators ? device_.stamp() : device_.stamp_uploads();
  }

  device::Device& device_;
  host::Recorder::Track& track_;
  cuda::CudaProbe* const probe_;
  cuda::CudaProbe* const kernels_;
  device::Buffer first_work_;
  bool enabled_ = true;
  bool muted_ = false;
  bool by_stamps_ = kernels_ == nullptr;  ///< or by the kernels that the probe sees
  std::vector<QueuedSpan> spans_;
  std::vector<QueuedSpan> uncaptured_;  // of before a capture
  std::vector<std::int64_t> times_ns_;
};

/// What recorded spans of a rank's own thread took in all: of operators (on a host: those of a queue are not known when they return), and in
/// the loader. The live diagnosis (which rank holds the others up, and why) uses it.
struct SpanSums {
  std::int64_t compute_ns = 0;
  std::int64_t data_ns = 0;
  void add(const Span& span) noexcept {
    const bool computes = span.kind == SpanKind::kForward || span.kind == SpanKind::kBackward ||
                          span.kind == SpanKind::kOptimizer || span.kind == SpanKind::kCompute;
    if (computes) compute_ns += span.duration_ns();
    if (span.kind == SpanKind::kDataWait) data_ns += span.duration_ns();
  }
};

/// Records what a device does between its construction and its destruction; owner thread only. Without a queue: what the thread does.
class OperatorSpan {
 public:
  OperatorSpan(host::Recorder::Track& track, SpanSums& sums, QueuedSpans* queue, const Span& span,
               QueuedSpans::Of of = QueuedSpans::Of::kOperators) noexcept
      : track_(track), sums_(sums), queue_(queue), span_(span), of_(of), active_(track.records(span.kind)) {
    if (!active_) return;
    if (queue_ != nullptr) {
      begin_ = queue_->begin(span_, of_);
    } else {
      span_.begin_ns = now_ns();
    }
  }
  ~OperatorSpan() {
    if (!active_) return;
    if (queue_ != nullptr) {
      queue_->end(span_, of_, begin_);
    } else {
      span_.end_ns = now_ns();
      track_.record(span_);
      sums_.add(span_);
    }
  }
  OperatorSpan(const OperatorSpan&) = delete;
  OperatorSpan& operator=(const OperatorSpan&) = delete;

 private:
  host::Recorder::Track& track_;
  SpanSums& sums_;
  QueuedSpans* const queue_;
  Span span_;
  std::size_t begin_ = 0;
  const QueuedSpans::Of of_;
  const bool active_;
};

/// What a rank's own thread records of a training step: one span an operator. Owner thread only.
class Probe {
 public:
  explicit Probe(host::Recorder& recorder) : recorder_(recorder), track_(recorder.track(Lane::kMain)) {}

  /// Before the first span: operators run on `device`, and take the time that they take there.
  void observe(device::Device& device, cuda::CudaProbe* probe = nullptr) {
    if (device.is_host()) return;
    queue_ = std::make_unique<QueuedSpans>(device, recorder_.track(Lane::kDeviceCompute), probe);
  }
  /// Whether operators may still be under way when their calls have returned.
  bool has_queue() const noexcept { return queue_ != nullptr; }
  /// Waits until they are done and records them.
  void drain_queue() {
    if (has_queue()) queue_->record();
  }
  /// Between steps: whether the kernels of what comes, and NCCL's events, are recorded. Turning that on or
  /// off takes time.
  void record_kernels(bool enabled) {
    if (has_queue()) queue_->set_enabled(enabled);
  }

  /// While the device's queue is captured, in a step that is recorded: spans of operators are those of no run
  /// yet, and end_capture() gives them back. Empty where a CudaProbe records the nodes of graphs, or unless `records`: then
  /// nothing is to be recorded of the graph.
  void begin_capture(bool records) noexcept { queue_->begin_capture(records); }
  std::vector<QueuedSpan> end_capture() { return queue_->end_capture(); }
  /// Records them in the current step, with the times of the stamps of one run.
  void record_captured(const std::vector<QueuedSpan>& spans, const std::vector<std::int64_t>& times_ns) {
    for (QueuedSpan queued : spans) {
      queued.span.step = step_;
      queue_->record(queued, times_ns);
    }
  }

  /// Before the first step: the timed region must not intern.
  std::uint32_t intern(std::string_view name) { return recorder_.intern(name); }

  void begin_step(std::uint32_t step) noexcept { step_ = step; }
  std::uint32_t step() const noexcept { return step_; }

  /// Records an operator, from now to its destruction, in the current step.
  [[nodiscard]] OperatorSpan span(SpanKind kind, std::uint32_t name_id, std::int64_t bytes = 0,
                                  std::uint16_t bucket = kNoBucket) noexcept {
    return {track_,
            sums_,
            queue_.get(),
            {.bytes = static_cast<std::uint64_t>(bytes),
             .name_id = name_id,
             .step = step_,
             .kind = kind,
             .bucket = bucket}};
  }
  /// The same of Device::upload_ahead(): when it runs, which is while operators do.
  [[nodiscard]] OperatorSpan upload_ahead_span(std::uint32_t name_id, std::int64_t bytes) noexcept {
    return {track_,
            sums_,
            queue_.get(),
            {.bytes = static_cast<std::uint64_t>(bytes),
             .name_id = name_id,
             .step = step_,
             .kind = SpanKind::kCopy},
            QueuedSpans::Of::kUploadsAhead};
  }
  /// The same of what this thread itself does.
  [[nodiscard]] OperatorSpan host_span(SpanKind kind, std::uint32_t name_id, std::int64_t bytes = 0) noexcept {
    return {track_,
            sums_,
            nullptr,
            {.bytes = static_cast<std::uint64_t>(bytes), .name_id = name_id, .step = step_, .kind = kind}};
  }
  /// Of all steps so far with the probes on.
  const SpanSums& sums() const noexcept { return sums_; }
  host::Recorder::Track& track() noexcept { return track_; }

 private:
  host::Recorder& recorder_;
  host::Recorder::Track& track_;
  std::unique_ptr<QueuedSpans> queue_;
  std::uint32_t step_ = kNoStep;
  SpanSums sums_;
};

}  // namespace ddbench::workload
