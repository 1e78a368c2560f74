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

/// Times `call` in batches that begin together on all ranks. Rank 0 determines the iterations per batch so
/// that a batch takes a fifth of `seconds`. There are 5 batches, fewer (2 or more) once `seconds` are over.
/// `finish` ends a batch within its time: it waits for the work that `call` has queued. `progressed` is called
/// after each batch, outside of its time, and as often on all ranks: also after a first call, which warms up, and
/// a batch on trial. All ranks must call it with the same arguments.
TimedBatches time_in_lock_step(collective::Communicator& communicator, double seconds,
                               const std::function<void()>& call, const std::function<void()>& finish = {},
                               const std::function<void()>& progressed = {});

}  // namespace ddbench::micro
