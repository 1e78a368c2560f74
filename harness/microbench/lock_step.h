#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "harness/collective/communicator.h"

namespace ddbench::micro {

struct TimedBatches {
  std::int64_t iterations = 1;   ///< of each batch
  std::vector<double> times_ns;  ///< of an iteration on this rank, by batch
};

/// Times `call` in batches that begin together on all ranks. How many iterations a batch has is
/// what rank 0 finds to fit into a fifth of `seconds`. There are 5 batches, fewer (2 or more) once `seconds`
/// are over. `finish` ends a batch within its time: it waits for what `call` has queued. All ranks call it
/// alike.
TimedBatches time_in_lock_step(collective::Communicator& communicator, double seconds,
                               const std::function<void()>& call, const std::function<void()>& finish = {});

}  // namespace ddbench::micro
