// Captures and the graphs made of them: the work of all their streams in the order in which it was queued,
// one of the orders that the graph's edges allow.
#include <atomic>
#include <memory>
#include <thread>
#include <utility>

#include "stream.h"

namespace ddbench::cuda_on_host {
namespace {

/// The capture that this thread has begun.
std::weak_ptr<Capture>& own_capture() {
  static thread_local std::weak_ptr<Capture> capture;
  return capture;
}

/// One launch of a graph.
class Launch {
 public:
  Launch(std::vector<Work> work, std::shared_ptr<std::atomic<int>> launches)
      : work_(std::move(work)), launches_(std::move(launches)) {}

  bool operator()() {
    while (next_ < work_.size() && work_[next_]()) ++next_;
    if (next_ < work_.size()) return false;
    --*launches_;
    return true;
  }

 private:
  std::vector<Work> work_;
  std::shared_ptr<std::atomic<int>> launches_;
  std::size_t next_ = 0;
};

cudaError_t outcome_of(const Capture& capture) {
  if (capture.broken) return cudaErrorStreamCaptureInvalidated;
  for (const auto& [stream, joined] : capture.others) {
    if (!joined) return cudaErrorStreamCaptureUnjoined;
  }
  return cudaSuccess;
}

}  // namespace

bool breaks_capture() {
  const std::lock_guard lock(device_lock());
  const auto capture = own_capture().lock();
  if (capture) capture->broken = true;
  return capture != nullptr;
}

}  // namespace ddbench::cuda_on_host

using namespace ddbench::cuda_on_host;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  const std::lock_guard lock(device_lock());
  if (mode != cudaStreamCaptureModeThreadLocal) return remember(cudaErrorNotSupported);
  if (stream->capture) return remember(cudaErrorIllegalState);
  stream->capture = std::make_shared<Capture>();
  stream->capture->thread = std::this_thread::get_id();
  own_capture() = stream->capture;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const std::lock_guard lock(device_lock());
  *graph = nullptr;
  const auto capture = stream->capture;
  if (!capture) return remember(cudaErrorIllegalState);
  if (capture->others.contains(stream)) return remember(cudaErrorStreamCaptureUnmatched);
  if (capture->thread != std::this_thread::get_id()) return remember(cudaErrorStreamCaptureWrongThread);
  for (const auto& [other, joined] : capture->others) other->capture.reset();
  stream->capture.reset();
  own_capture().reset();
  const cudaError_t outcome = outcome_of(*capture);
  if (outcome == cudaSuccess) *graph = new CUgraph_st{capture->work};
  return remember(outcome);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long) {
  *made = new CUgraphExec_st{graph->work};
  return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  ++*graph->launches;
  return enqueue(stream, Launch(graph->work, graph->launches));
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
// Waits for its kernels, which CUDA may do.
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  while (*graph->launches > 0) std::this_thread::sleep_for(kRest);  // its stream is driven
  delete graph;
  return cudaSuccess;
}

}  // extern "C"
