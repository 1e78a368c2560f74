#pragma once

#include <cstdint>

#include "ddbench/record/run_case.h"

namespace ddbench::launch {

/// Refuses a case that this machine's memory cannot hold: throws Error{kEnvironment} with the figures and the
/// largest world size that fits. `available_bytes`: MemAvailable; `per_rank_bytes`:
/// ddp::memory_per_rank_bytes.
void check_memory(const RunCase& run_case, std::int64_t available_bytes, std::int64_t per_rank_bytes);

}  // namespace ddbench::launch
