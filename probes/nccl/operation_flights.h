#pragma once

#include "probes/nccl/operations.h"

namespace ddbench::nccl {

/// Keeps a collective in the flight recorder of the process (probes/preload/session/live_progress.h) from when it is enqueued, as
/// PyTorch's Flight Recorder has it. Its name is "nccl:all_reduce"; its number counts the calls of that function in the communicator
/// from 1, also those that are not recorded (a pause, a window).
void begin_flight(Operation& operation) noexcept;
/// Its last channel has ended, or a later one of the communicator, which runs them in their order, has begun.
void end_flight(Operation& operation) noexcept;
/// The next operation of the communicator is enqueued, or the communicator is closed.
void end_open_flight(Communicator& communicator) noexcept;

}  // namespace ddbench::nccl
