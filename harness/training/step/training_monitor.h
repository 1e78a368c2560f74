#pragma once

#include <cstdint>
#include <string_view>

namespace ddbench::ddp {

/// Called by the training loop; implemented by the worker (live progress, stop requests, watchdog).
class TrainingMonitor {
 public:
  virtual ~TrainingMonitor() = default;
  /// After each step, outside of the step's timed operators. `loss` is this rank's mean over its batch.
  virtual void on_step(std::uint32_t step, double loss) = 0;
  /// At the end of each step's work: whether training ends with it before its time, on all ranks alike. A
  /// checkpoint of the step is written then, in a run that writes some. May wait for the other ranks.
  virtual bool is_last(std::uint32_t /*step*/) { return false; }
  /// Around every collective (communication thread): what a watchdog must know. `sequence` as in
  /// collective_key.
  virtual void on_collective_begin(std::string_view function, std::uint64_t sequence) noexcept = 0;
  virtual void on_collective_end(std::uint64_t sequence) noexcept = 0;
};

}  // namespace ddbench::ddp
