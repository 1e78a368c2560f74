#pragma once

#include <cstdint>

#include "core/clock.h"
#include "harness/model/probe.h"
#include "probes/recorder/recorder.h"

namespace ddbench::ddp {

/// Whether the probes are off in the third of the `four`th group of four measured steps, or in the fourth: a
/// coin (the finaliser of MurmurHash3) with the same result on all ranks.
constexpr bool third_is_off(std::uint32_t four) noexcept {
  std::uint32_t hash = four + 0x9E3779B9U;
  hash = (hash ^ (hash >> 16)) * 0x85EBCA6BU;
  hash = (hash ^ (hash >> 13)) * 0xC2B2AE35U;
  return ((hash ^ (hash >> 16)) & 1) != 0;
}

/// Of four measured steps the last two are a pair: one has the probes on, the other, drawn, has them off. The
/// difference of their times is what the probes cost; as the order is drawn, no rhythm of the job is in it.
/// `first_measured`: CaseSampling::first_measured_step.
constexpr bool is_in_pair(std::uint32_t step, std::uint32_t first_measured) noexcept {
  return step >= first_measured && (step - first_measured) % 4 >= 2;
}

/// Whether the spans of a step are recorded.
constexpr bool is_probed(std::uint32_t step, std::uint32_t first_measured) noexcept {
  if (!is_in_pair(step, first_measured)) return true;
  const std::uint32_t measured = step - first_measured;
  return (measured % 4 == 2) != third_is_off(measured / 4);
}

/// Records the frame of each step: the step itself, from the end of the one before it to its own end, and the
/// time that this rank's thread was active in it (host). Probes are turned on and off between two steps, in
/// time that belongs to neither. Time in operators lies inside host spans, and counts
/// as what the operator is; time between pause_host() and resume_host() is no host time.
class StepClock {
 public:
  StepClock(host::Recorder& recorder, workload::Probe& probe)
      : recorder_(recorder), probe_(probe), step_name_(probe.intern("step")), host_name_(probe.intern("host")) {}

  /// Training begins now: so does the first step, `first_step`, which need not be the first of all. `first_measured` as in
  /// is_probed.
  void start(std::uint32_t first_step, std::uint32_t first_measured) {
    first_measured_ = first_measured;
    probe_.record_kernels(is_probed(first_step, first_measured_));
    step_begin_ns_ = now_ns();
  }
  void begin_step(std::uint32_t step) noexcept {
    recorder_.set_enabled(is_probed(step, first_measured_));
    probe_.begin_step(step);
    host_begin_ns_ = step_begin_ns_;
  }
  void pause_host() noexcept { record(SpanKind::kHost, host_name_, host_begin_ns_, now_ns(), kNoBucket); }
  void resume_host() noexcept { host_begin_ns_ = now_ns(); }
  /// The step ends when what its operators do is done.
  void wait_for_device() {
    if (!probe_.has_queue()) return;
    pause_host();
    probe_.drain_queue();
    resume_host();
  }
  /// Returns how long the step took.
  std::int64_t end_step() {
    const std::int64_t end_ns = now_ns();
    const std::int64_t duration_ns = end_ns - step_begin_ns_;
    record(SpanKind::kHost, host_name_, host_begin_ns_, end_ns, kNoBucket);
    const bool probed = is_probed(probe_.step(), first_measured_);
    record(SpanKind::kStep, step_name_, step_begin_ns_, end_ns, probed ? kNoBucket : std::uint16_t{0});
    step_begin_ns_ = end_ns;
    const bool probes_next = is_probed(probe_.step() + 1, first_measured_);
    if (probes_next == probed || !probe_.has_queue()) return duration_ns;
    probe_.record_kernels(probes_next);
    step_begin_ns_ = now_ns();
    return duration_ns;
  }

 private:
  void record(SpanKind kind, std::uint32_t name, std::int64_t begin_ns, std::int64_t end_ns,
              std::uint16_t bucket) noexcept {
    probe_.track().record({.begin_ns = begin_ns,
                           .end_ns = end_ns,
                           .name_id = name,
                           .step = probe_.step(),
                           .kind = kind,
                           .bucket = bucket});
  }

  host::Recorder& recorder_;
  workload::Probe& probe_;
  const std::uint32_t step_name_;
  const std::uint32_t host_name_;
  std::uint32_t first_measured_ = 0;
  std::int64_t step_begin_ns_ = 0;
  std::int64_t host_begin_ns_ = 0;
};

}  // namespace ddbench::ddp
