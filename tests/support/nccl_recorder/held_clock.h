#pragma once

#include <cstdint>

namespace ddbench::nccl_recorder {

/// From now on CLOCK_MONOTONIC, and so now_ns() and std::chrono::steady_clock, is `ns` for the calling
/// thread, in all of the process's libraries; 0: it runs as ever. So a plug-in finds the times of a
/// recording, to the nanosecond and on a machine of any load. Only for executables that are linked with
/// ENABLE_EXPORTS.
void hold_clock(std::int64_t ns) noexcept;

}  // namespace ddbench::nccl_recorder
