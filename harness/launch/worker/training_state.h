#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <string_view>

#include "harness/launch/control/messages.h"
#include "harness/training/step/training_monitor.h"

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

  /// Waits between hold() and set_last_step(). Throws as on_step while it waits.
  bool is_last(std::uint32_t step) override;

  void request_stop();
  /// From now on no step is begun without word of the last one. Returns the step that the training is in.
  std::uint32_t hold();
  void set_last_step(std::uint32_t step);
  bool stop_requested() const noexcept { return stop_; }
  /// Without the memory's peak.
  Heartbeat snapshot() const;

 private:
  static constexpr std::size_t kNameWords = 4;

  std::atomic<bool> stop_{false};
  std::mutex mutex_;  // of what follows; taken once a step
  std::condition_variable changed_;
  std::uint32_t in_step_ = 0;
  bool held_ = false;
  std::optional<std::uint32_t> last_step_;

  std::atomic<std::uint32_t> steps_completed_{0};
  std::atomic<double> loss_{std::numeric_limits<double>::quiet_NaN()};
  std::array<std::atomic<std::uint64_t>, kNameWords> function_{};  // characters, zero padded
  std::atomic<std::uint64_t> sequence_{0};
  std::atomic<bool> inside_{false};
  std::atomic<std::int64_t> changed_ns_{0};
};

}  // namespace ddbench::launch
