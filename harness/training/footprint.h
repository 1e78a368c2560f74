#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/run_case/run_case.h"
#include "harness/device/memory_ledger.h"

namespace ddbench::ddp {

/// Samples that a rank computes at a time: sums of bytes do not overflow with as many.
inline constexpr std::int64_t kLargestMicroBatch = std::int64_t{1} << 24;

/// What the engine allocates on a rank's device, by the sizes of its tensors: exact but for kWorkspace, which the
/// operators choose and which is 0 here, and for kOther, some numbers. Throws Error{kBadInput} as check_supported.
device::MemoryByUse footprint(const RunCase& run_case, int rank);
/// The same of the rank that has most.
device::MemoryByUse largest_footprint(const RunCase& run_case);

/// What an offloaded optimizer of such a rank keeps in the host's memory; 0 without offload.
std::int64_t offloaded_footprint(const RunCase& run_case);

/// The largest batch_per_gpu of the case, a multiple of its micro-batches, whose footprint is at most `bytes`; 0 where not
/// even one sample for each micro-batch fits. At most 2^24.
std::int64_t largest_batch(const RunCase& run_case, std::int64_t bytes);

/// What would make the case fit into `bytes`, the least change of its training first: "--accumulate 4 (11.2 GB)",
/// "--batch-per-gpu 12 (15.7 GB)", ... Empty where nothing does.
std::vector<std::string> ways_to_fit(const RunCase& run_case, std::int64_t bytes);

/// The same for a limit of the process's host memory in bytes (memory_per_rank_bytes).
std::vector<std::string> ways_to_fit_process(const RunCase& run_case, std::int64_t bytes);

}  // namespace ddbench::ddp
