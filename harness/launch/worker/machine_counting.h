#pragma once

#include <memory>

#include "harness/launch/machine/machine_meter.h"
#include "harness/launch/worker/worker.h"

namespace ddbench::launch {

/// What the machine counts while a rank is on it that the launcher does not share: by one rank of each node.
class MachineCounting {
 public:
  explicit MachineCounting(WorkerSession& session) : session_(session) {}

  /// When the environment is what it will be: it has threads that may read it. `remote`: null where the launcher counts.
  void begin(const RemoteRank* remote, int local_rank) {
    if (remote != nullptr && local_rank == 0) meter_ = std::make_unique<MachineMeter>();
  }
  /// Once, before the message that says how the rank ended: what is missing of it is no reason to say nothing.
  void tell() noexcept;

 private:
  WorkerSession& session_;
  std::unique_ptr<MachineMeter> meter_;
};

}  // namespace ddbench::launch
