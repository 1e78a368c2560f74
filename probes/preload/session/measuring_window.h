#pragma once

#include <cstdint>

namespace ddbench::inject {

/// Call when a step of the loop `id` (an optimizer) ends. If the run measures a window only ($DDBENCH_WINDOW:
/// steps to skip, steps to measure or 0, nanoseconds or 0) and its end is reached, recording ends, and the
/// file $DDBENCH_SPOOL.<pid>.closed reports it to the worker. From the first step on,
/// $DDBENCH_SPOOL.<pid>.steps reports that this process knows its steps. Also counts the step for the
/// launcher (live_progress.h). Costs a clock reading and some loads and stores.
__attribute__((visibility("default"))) void note_step_ended(std::uint64_t id) noexcept;

}  // namespace ddbench::inject
