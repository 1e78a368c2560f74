#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "harness/launch/control/messages.h"
#include "harness/launch/worker/step_windows.h"
#include "harness/training/step/training_monitor.h"
#include "probes/recorder/flight_ring.h"

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

  void on_begin(std::uint32_t first_step) override;
  /// Waits at the horizon that hold() set until set_last_step() was called. Throws as on_step while it waits.
  ddp::TrainingEnd end_after(std::uint32_t step) override;
  void on_own_time(const ddp::OwnTime& time) override;
  void on_step_time(std::uint32_t step, std::int64_t duration_ns) override;
  void on_long_work(ddp::LongWork work) noexcept override;

  void request_stop();
  /// Sets the horizon, and returns it: the step that the training will have reached `lead_ns` from now at its
  /// present speed; at least the current one. No later step is begun before set_last_step(). Voids earlier
  /// horizons.
  std::uint32_t hold(std::int64_t lead_ns);
  /// `step`: at least the horizon.
  void set_last_step(std::uint32_t step, bool with_checkpoint);
  bool stop_requested() const noexcept { return stop_; }

  /// From now on the last collectives are kept in this file (probes/recorder/flight_ring.h), where it can be made. Before the training
  /// begins. `communicator`: of all collectives.
  void keep_flight(const std::string& file, std::uint16_t communicator);
  /// From now on the times of steps are gathered for step_times(). Before the training begins.
  void gather_step_times(std::uint32_t first_measured);
  /// Those since the last call; nothing where none are gathered.
  std::optional<StepTimes> step_times();

  /// The last value passed to on_own_time(); nothing before.
  std::optional<RankOwnTime> own_time() const;

  struct Waits {
    std::uint32_t count = 0;
    std::int64_t total_ns = 0;
  };
  /// At the horizon.
  Waits waits() const;
  /// Without the memory's peak.
  Heartbeat snapshot() const;

 private:
  static constexpr std::size_t kNameWords = 4;

  void begin_step(std::uint32_t step);
  void wait_for_word(std::unique_lock<std::mutex>& lock);

  std::atomic<bool> stop_{false};
  mutable std::mutex mutex_;  // guards the following; locked three times per step
  std::condition_variable changed_;
  std::uint32_t in_step_ = 0;
  std::int64_t step_began_ns_ = 0;
  double pace_ns_ = 0;  // recent duration of a step; 0: none is done
  std::optional<std::uint32_t> horizon_;
  std::optional<std::uint32_t> last_step_;
  bool with_checkpoint_ = false;
  std::optional<RankOwnTime> own_time_;
  Waits waits_;
  std::optional<StepWindows> windows_;
  std::int64_t measured_from_ns_ = 0;  // when the first measured step began; 0: it has not

  host::FlightRing* flight_ = nullptr;
  std::uint16_t communicator_ = 0;
  std::uint64_t flight_place_ = 0;  // of the thread that communicates

  std::atomic<std::uint32_t> steps_completed_{0};
  std::atomic<ddp::LongWork> long_work_{ddp::LongWork::kNone};
  std::atomic<std::uint64_t> pieces_{0};  // of it
  std::atomic<double> loss_{std::numeric_limits<double>::quiet_NaN()};
  std::array<std::atomic<std::uint64_t>, kNameWords> function_{};  // characters, zero padded
  std::atomic<std::uint64_t> sequence_{0};
  std::atomic<bool> inside_{false};
  std::atomic<std::int64_t> changed_ns_{0};
  std::atomic<std::int64_t> collectives_ns_{0};          // ended ones
  std::atomic<std::int64_t> collectives_at_step_ns_{0};  // at the end of the last step
};

}  // namespace ddbench::launch
