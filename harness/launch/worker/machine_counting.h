#pragma once

#include <memory>

#include "harness/launch/machine/machine_counters.h"
#include "harness/launch/worker/worker.h"

namespace ddbench::launch {

/// What the machine counts while a rank is on it that the launcher does not share: by one rank of each node.
class MachineCounting {
 public:
  explicit MachineCounting(WorkerSession& session) : session_(session) {}

  /// Call when the environment is final: it starts threads that may read it. `remote`: null if the launcher
  /// counts.
  void begin(const RemoteRank* remote, int local_rank) {
    if (remote != nullptr && local_rank == 0) meter_ = std::make_unique<MachineCounters>();
  }
  /// Call once, before the message about the rank's end: a missing part is no reason to report nothing.
  void report() noexcept;

 private:
  WorkerSession& session_;
  std::unique_ptr<MachineCounters> meter_;
};

}  // namespace ddbench::launch
