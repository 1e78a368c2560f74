#pragma once

#include <cstdint>
#include <string_view>

#include "ddbench/host/recorder.h"

namespace ddbench::workload {

/// What a rank's own thread records of a training step: one span an operator. Owner thread only.
class Probe {
 public:
  explicit Probe(host::Recorder& recorder) : recorder_(recorder), track_(recorder.track(Lane::kMain)) {}

  /// Before the first step: the timed region must not intern.
  std::uint32_t intern(std::string_view name) { return recorder_.intern(name); }

  void begin_step(std::uint32_t step) noexcept { step_ = step; }
  std::uint32_t step() const noexcept { return step_; }

  /// Records from now to its destruction, in the current step.
  [[nodiscard]] host::ScopedSpan span(SpanKind kind, std::uint32_t name_id, std::int64_t bytes = 0,
                                      std::uint16_t bucket = kNoBucket) noexcept {
    return {track_, kind, name_id, step_, static_cast<std::uint64_t>(bytes), bucket};
  }
  host::Recorder::Track& track() noexcept { return track_; }

 private:
  host::Recorder& recorder_;
  host::Recorder::Track& track_;
  std::uint32_t step_ = kNoStep;
};

}  // namespace ddbench::workload
