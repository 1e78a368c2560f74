#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/cpu_wait.h"
#include "probes/machine/run_queue.h"
#include "probes/recorder/recorder.h"

namespace ddbench::ddp {

/// Records how long the threads of a step waited for a core, as the scalars kCpuWaitMain and
/// kCpuWaitCommunication: of the calling thread, and of those that carry out collectives. It reads each
/// thread once at the end of a step with the probes on, inside that step, and once at its begin where the
/// step before had them off. One thread, the one that trains.
class RunQueueWatch {
 public:
  /// `communication_threads`: ids of host::own_thread().
  RunQueueWatch(host::Recorder& recorder, const std::vector<int>& communication_threads);

  void begin_step(bool is_probed);
  void end_step(std::uint32_t step, bool is_probed);
  /// What the readings have taken so far.
  std::int64_t cost_ns() const noexcept { return cost_ns_; }
  /// Of the calling thread, in all steps that were recorded.
  std::int64_t main_ns() const noexcept { return main_ns_; }

 private:
  /// Since the threads began; nothing where one of them cannot be read.
  std::optional<CpuWait> read();

  host::Recorder& recorder_;
  host::RunQueueDelay main_;
  std::vector<host::RunQueueDelay> communication_;
  std::optional<CpuWait> before_;
  std::int64_t cost_ns_ = 0;
  std::int64_t main_ns_ = 0;
};

}  // namespace ddbench::ddp
