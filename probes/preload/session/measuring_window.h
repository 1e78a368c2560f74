#pragma once

#include <cstdint>

namespace ddbench::inject {

/// A step of the loop `id` (an optimizer) ended, now. Where the run measures a window only ($DDBENCH_WINDOW:
/// steps to skip, steps to measure or 0, nanoseconds or 0) and its end is reached, recording ends, and the file
/// $DDBENCH_SPOOL.<pid>.closed says so to the worker. $DDBENCH_SPOOL.<pid>.steps says from the first step on that this
/// process knows its steps. Counts it for the launcher as well (live_progress.h). Costs a clock reading and some loads and stores.
__attribute__((visibility("default"))) void note_step_ended(std::uint64_t id) noexcept;

}  // namespace ddbench::inject
