#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>

// Of the thread that runs, as CUDA names them.
extern uint3 threadIdx;
extern uint3 blockIdx;
extern dim3 blockDim;
extern dim3 gridDim;

namespace ddbench::cuda_on_host {

/// Runs body() for each thread of one block, the last thread first; threads are fibers of the calling thread.
/// A thread runs until it waits for others or ends: what is read of another thread without a barrier is not
/// there yet. Ends the program with a message where threads wait for some that have ended, or for each other.
/// One block at a time in a process. `shared_bytes`: of memory for block_memory().
void run_block(dim3 block, dim3 grid, uint3 index, std::size_t shared_bytes, const std::function<void()>& body);

// For the thread that runs:
/// Of the block: aligned to 16 bytes, and filled with NaN.
void* block_memory();
/// Until all threads of the block wait here. Whether `bit` was set by any.
bool any_of_block(bool bit);
/// Until all 32 threads of the warp wait here. What each of them gave, by lane; valid until the next wait.
const std::uint32_t* all_of_warp(std::uint32_t bits);

}  // namespace ddbench::cuda_on_host
