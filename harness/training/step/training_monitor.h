#pragma once

#include <cstdint>
#include <string_view>

#include "harness/training/step/long_work.h"

namespace ddbench::ddp {

/// Whether training ends with a step before its time.
struct TrainingEnd {
  bool is_last = false;
  bool writes_checkpoint = false;  ///< of the step, in a run that writes some
};

/// Of a rank's steps with the probes on, all so far: what its own thread did before it waited for others.
struct OwnTime {
  std::uint32_t steps = 0;
  std::int64_t compute_ns = 0;   ///< -1: not known (of a GPU)
  std::int64_t data_ns = 0;      ///< in the loader
  std::int64_t cpu_wait_ns = 0;  ///< ready without a core, also inside of compute
};

/// Called by the training loop; implemented by the worker (live progress, stop requests, watchdog).
class TrainingMonitor {
 public:
  virtual ~TrainingMonitor() = default;
  /// Before the first step, `first_step`.
  virtual void on_begin(std::uint32_t /*first_step*/) {}
  /// After each step, outside of the step's timed operators. `loss` is this rank's mean over its batch.
  virtual void on_step(std::uint32_t step, double loss) = 0;
  /// Called at the end of each step's work, on all ranks with the same arguments. May wait for the other
  /// ranks.
  virtual TrainingEnd end_after(std::uint32_t /*step*/) { return {}; }
  /// After each step with the probes on.
  virtual void on_own_time(const OwnTime& /*time*/) {}
  /// Called after the end of each step with its duration, as in its span.
  virtual void on_step_time(std::uint32_t /*step*/, std::int64_t /*duration_ns*/) {}
  /// Before long work, after each piece of it, and with kNone at its end: what a watchdog must know, too.
  virtual void on_long_work(LongWork /*work*/) noexcept {}
  /// Around every collective (communication thread): what a watchdog must know. `sequence` as in
  /// collective_key.
  virtual void on_collective_begin(std::string_view function, std::uint64_t sequence) noexcept = 0;
  virtual void on_collective_end(std::uint64_t sequence) noexcept = 0;
};

/// Reports long work from its construction to its end.
class ReportedWork {
 public:
  ReportedWork(TrainingMonitor& monitor, LongWork work) : monitor_(monitor), work_(work) { piece_done(); }
  ~ReportedWork() { monitor_.on_long_work(LongWork::kNone); }
  ReportedWork(const ReportedWork&) = delete;
  ReportedWork& operator=(const ReportedWork&) = delete;
  void piece_done() noexcept { monitor_.on_long_work(work_); }

 private:
  TrainingMonitor& monitor_;
  const LongWork work_;
};

}  // namespace ddbench::ddp
