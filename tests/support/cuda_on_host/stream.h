#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace ddbench::cuda_on_host {

/// A piece of a stream's work. It is called again until it returns true, by whichever thread waits for the
/// stream, one thread of the process at a time; it must not wait itself. A graph keeps a copy for each
/// launch: what it remembers between calls belongs into it.
using Work = std::function<bool()>;

/// Between two checks of a waiting thread.
inline constexpr std::chrono::microseconds kRest{50};

/// Puts work at the end of a stream, or into the graph that the stream is captured into. Nothing is run
/// before somebody waits for it: what was forgotten to be waited for is not there. Any thread.
cudaError_t enqueue(cudaStream_t stream, Work work);

/// body(), which calls `kernel`, for each thread of each block, the last block first.
cudaError_t launch(const cudaLaunchConfig_t& configuration, const void* kernel, std::function<void()> body);

/// Bytes that a block can share: without being asked for (cudaFuncSetAttribute), and at most (an H100's).
inline constexpr int kFreeSharedMemory = 48 * 1024;
inline constexpr int kMostSharedMemory = 227 * 1024;

/// Held by everything that reads or changes what follows, and while work runs.
std::recursive_mutex& device_lock();

/// The status is the thread's last error from now on, if it is one.
cudaError_t remember(cudaError_t status);

/// A graph that is being captured.
struct Capture {
  std::vector<Work> work;
  std::map<cudaStream_t, bool> others;  ///< streams that it went on to, and whether they are joined again
  cudaStream_t origin = nullptr;
  std::thread::id thread;
  bool broken = false;
};

struct Queue {
  std::deque<Work> work;
  std::uint64_t added = 0;
  std::uint64_t done = 0;
  bool running = false;
};

/// Runs a queue's work up to number `last`; false where some of it must wait for others.
bool advance(Queue& queue, std::uint64_t last);
/// Runs all that all streams have, waiting where it must.
void finish_everything();

/// Whether this thread may not do what a capture forbids now; the capture is broken then.
bool breaks_capture();

}  // namespace ddbench::cuda_on_host

/// The types that CUDA's headers only name.
struct CUstream_st {
  std::shared_ptr<ddbench::cuda_on_host::Queue> queue = std::make_shared<ddbench::cuda_on_host::Queue>();
  std::shared_ptr<ddbench::cuda_on_host::Capture> capture;
};
struct CUgraph_st {
  std::vector<ddbench::cuda_on_host::Work> work;
};
struct CUgraphExec_st {
  std::vector<ddbench::cuda_on_host::Work> work;
  std::shared_ptr<std::atomic<int>> launches =
      std::make_shared<std::atomic<int>>(0);  ///< that have not ended
};
