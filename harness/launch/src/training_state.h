#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <string_view>

#include "ddbench/ddp/train.h"
#include "messages.h"

namespace ddbench::launch {

/// Where this rank's training is, written by the training threads without locks and read by the control
/// thread. A snapshot taken in the middle of a change may mix two collectives; the watchdog only acts on
/// states that last.
class TrainingState final : public ddp::TrainingMonitor {
 public:
  /// Throws Error{kInterrupted} after request_stop(): the way out of a training loop that computes.
  void on_step(std::uint32_t step, double loss) override;
  void on_collective_begin(std::string_view function, std::uint64_t sequence) noexcept override;
  void on_collective_end(std::uint64_t sequence) noexcept override;

  void request_stop() noexcept { stop_ = true; }
  bool stop_requested() const noexcept { return stop_; }
  /// Without the memory's peak.
  Heartbeat snapshot() const;

 private:
  static constexpr std::size_t kNameWords = 4;

  std::atomic<bool> stop_{false};
  std::atomic<std::uint32_t> steps_completed_{0};
  std::atomic<double> loss_{std::numeric_limits<double>::quiet_NaN()};
  std::array<std::atomic<std::uint64_t>, kNameWords> function_{};  // characters, zero padded
  std::atomic<std::uint64_t> sequence_{0};
  std::atomic<bool> inside_{false};
  std::atomic<std::int64_t> changed_ns_{0};
};

}  // namespace ddbench::launch
