#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "ddbench/device/device.h"
#include "ddbench/host/recorder.h"

namespace ddbench::workload {

/// Spans of operators that a device has queued: times are known when the queue has passed them.
class QueuedSpans {
 public:
  QueuedSpans(device::Device& device, host::Recorder::Track& track) : device_(device), track_(track) {}

  std::size_t stamp() noexcept { return device_.stamp(); }
  void add(const Span& span, std::size_t begin, std::size_t end) { spans_.push_back({span, begin, end}); }

  /// Waits for the device and records all spans.
  void record() {
    device_.read_stamps(times_ns_);
    for (Queued& queued : spans_) {
      queued.span.begin_ns = times_ns_[queued.begin];
      queued.span.end_ns = times_ns_[queued.end];
      track_.record(queued.span);
    }
    spans_.clear();
  }

 private:
  struct Queued {
    Span span;
    std::size_t begin;
    std::size_t end;
  };

  device::Device& device_;
  host::Recorder::Track& track_;
  std::vector<Queued> spans_;
  std::vector<std::int64_t> times_ns_;
};

/// Records what a device does between its construction and its destruction; owner thread only.
class OperatorSpan {
 public:
  OperatorSpan(host::Recorder::Track& track, QueuedSpans* queue, const Span& span) noexcept
      : track_(track), queue_(queue), span_(span), active_(track.records(span.kind)) {
    if (!active_) return;
    if (queue_ != nullptr) {
      begin_ = queue_->stamp();
    } else {
      span_.begin_ns = now_ns();
    }
  }
  ~OperatorSpan() {
    if (!active_) return;
    if (queue_ != nullptr) {
      queue_->add(span_, begin_, queue_->stamp());
    } else {
      span_.end_ns = now_ns();
      track_.record(span_);
    }
  }
  OperatorSpan(const OperatorSpan&) = delete;
  OperatorSpan& operator=(const OperatorSpan&) = delete;

 private:
  host::Recorder::Track& track_;
  QueuedSpans* const queue_;
  Span span_;
  std::size_t begin_ = 0;
  const bool active_;
};

/// What a rank's own thread records of a training step: one span an operator. Owner thread only.
class Probe {
 public:
  explicit Probe(host::Recorder& recorder) : recorder_(recorder), track_(recorder.track(Lane::kMain)) {}

  /// Before the first span: operators run on `device`, and take the time that they take there.
  void observe(device::Device& device) {
    if (!device.is_host())
      queue_ = std::make_unique<QueuedSpans>(device, recorder_.track(Lane::kDeviceCompute));
  }
  /// Whether operators may still be under way when their calls have returned.
  bool has_queue() const noexcept { return queue_ != nullptr; }
  /// Waits until they are done and records them.
  void drain_queue() {
    if (has_queue()) queue_->record();
  }

  /// Before the first step: the timed region must not intern.
  std::uint32_t intern(std::string_view name) { return recorder_.intern(name); }

  void begin_step(std::uint32_t step) noexcept { step_ = step; }
  std::uint32_t step() const noexcept { return step_; }

  /// Records an operator, from now to its destruction, in the current step.
  [[nodiscard]] OperatorSpan span(SpanKind kind, std::uint32_t name_id, std::int64_t bytes = 0,
                                  std::uint16_t bucket = kNoBucket) noexcept {
    return {track_,
            queue_.get(),
            {.bytes = static_cast<std::uint64_t>(bytes),
             .name_id = name_id,
             .step = step_,
             .kind = kind,
             .bucket = bucket}};
  }
  /// The same of what this thread itself does.
  [[nodiscard]] host::ScopedSpan host_span(SpanKind kind, std::uint32_t name_id,
                                           std::int64_t bytes = 0) noexcept {
    return {track_, kind, name_id, step_, static_cast<std::uint64_t>(bytes)};
  }
  host::Recorder::Track& track() noexcept { return track_; }

 private:
  host::Recorder& recorder_;
  host::Recorder::Track& track_;
  std::unique_ptr<QueuedSpans> queue_;
  std::uint32_t step_ = kNoStep;
};

}  // namespace ddbench::workload
