#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/run_case/run_case.h"

namespace ddbench::launch {

/// Bytes that one rank of a case needs.
using BytesPerRank = std::function<std::int64_t(const RunCase&)>;

/// Changes of the case that reduce the memory of a rank to this limit (bytes), as command-line options with their sizes.
using WaysToFit = std::function<std::vector<std::string>(const RunCase&, std::int64_t bytes)>;

/// Refuses a case that this machine's memory cannot hold: throws Error{kEnvironment} with the figures and the
/// largest world size that fits. `available_bytes`: MemAvailable; `bytes_per_rank`:
/// ddp::memory_per_rank_bytes, called for this case and for smaller worlds.
void check_memory(const RunCase& run_case, std::int64_t available_bytes, const BytesPerRank& bytes_per_rank,
                  const WaysToFit& ways_to_fit = {});

}  // namespace ddbench::launch
