#pragma once

#include <cstdint>

#include "core/run_case/run_case.h"
#include "probes/machine/machine.h"

namespace ddbench::experiment {

/// GPUs of this machine that its ranks may use: all, or those that CUDA_VISIBLE_DEVICES leaves.
int usable_gpus(const host::Machine& machine);

/// Whether the case's ranks, all on this machine, share its GPUs. What a program runs on is not known: its
/// ranks do when `may_share`.
bool shares_gpus(const RunCase& run_case, const host::Machine& machine, bool may_share);

/// Throws Error{kBadInput} when the case's ranks, all on this machine, would share its GPUs and `may_share`
/// is false: what is measured then is not what as many GPUs do. Does not judge where no GPU was found.
void check_gpus(const RunCase& run_case, const host::Machine& machine, bool may_share);

/// What a CUDA process takes of its GPU beside tensors: the context, cuBLAS, cuDNN and NCCL. An assumption, not a measurement.
inline constexpr std::int64_t kCudaReserveBytes = 1'500'000'000;

/// The part of it that is counted for each of `sharing` ranks on a GPU: all of it for one rank, and at most a quarter of its share where
/// several share a GPU. Modules are loaded when they are used, and a check that refuses must not refuse small models on small GPUs.
std::int64_t cuda_reserve_bytes(std::int64_t gpu_bytes, int sharing);

/// Throws Error{kEnvironment} that names what would fit, where the tensors of the ranks that share a GPU of this machine are
/// larger than the largest of its GPUs (by NVML) without cuda_reserve_bytes for each. Does not judge without NVML.
void check_gpu_memory(const RunCase& run_case, const host::Machine& machine);
/// The same for a GPU of `gpu_bytes` that `sharing` ranks use.
void check_gpu_memory(const RunCase& run_case, std::int64_t gpu_bytes, int sharing);

}  // namespace ddbench::experiment
