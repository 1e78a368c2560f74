#include "harness/device/cuda/stream_capture.h"

#include <mutex>
#include <utility>

#include "core/error.h"

namespace ddbench::device::cuda {
namespace {

using CapturedGraph = UniqueHandle<CUgraph_st, cudaGraphDestroy>;
using ExecutableGraph = UniqueHandle<CUgraphExec_st, cudaGraphExecDestroy>;

class CudaGraph final : public Graph {
 public:
  CudaGraph(ExecutableGraph graph, std::unique_ptr<Stamps> stamps, const Anchor& anchor, cudaStream_t stream)
      : graph_(std::move(graph)),
        stamps_(std::move(stamps)),
        anchor_(anchor),
        stream_(stream),
        done_(gpu::make_event(false)) {}

  void launch() override {
    const std::lock_guard lock(mutex_);
    if (!graph_) throw Error(ErrorCode::kRunFailed, "a CUDA graph was given up", 0, "launch a graph");
    gpu::check(cudaGraphLaunch(graph_.get(), stream_), "run a captured graph (try --cuda-graph off)");
    gpu::check(cudaEventRecord(done_.get(), stream_), "mark the end of a graph");
  }
  bool is_done() override {
    const cudaError_t status = cudaEventQuery(done_.get());
    if (status == cudaErrorNotReady) return false;
    gpu::check(status, "finish a captured graph");
    return true;
  }
  void read_stamps(std::vector<std::int64_t>& times_ns) override { stamps_->read(anchor_, times_ns); }
  void release() noexcept override {
    const std::lock_guard lock(mutex_);
    graph_.reset();  // a launch in progress continues, and the graph is freed after it
  }

 private:
  std::mutex mutex_;
  ExecutableGraph graph_;
  const std::unique_ptr<Stamps> stamps_;
  const Anchor& anchor_;
  cudaStream_t stream_;
  const gpu::Event done_;
};

}  // namespace

StreamCapture::StreamCapture(cudaStream_t stream, const Anchor& anchor)
    : stream_(stream),
      anchor_(anchor),
      beside_(gpu::make_stream()),
      fork_(gpu::make_event(false)),
      join_(gpu::make_event(false)) {}

// Other threads (NCCL's, CUPTI's) may continue to make calls that are forbidden to this one.
void StreamCapture::begin() {
  stamps_ = std::make_unique<Stamps>();
  forked_ = false;
  gpu::check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "capture a graph");
  active_ = true;
}

void StreamCapture::aside(const std::function<void(void* stream)>& action) {
  gpu::check(cudaEventRecord(fork_.get(), stream_), "fork a graph");
  gpu::check(cudaStreamWaitEvent(beside_.get(), fork_.get(), 0), "fork a graph");
  forked_ = true;
  action(beside_.get());
}

void StreamCapture::join() {
  if (!forked_) return;
  gpu::check(cudaEventRecord(join_.get(), beside_.get()), "join a graph");
  gpu::check(cudaStreamWaitEvent(stream_, join_.get(), 0), "join a graph");
  forked_ = false;
}

std::unique_ptr<Graph> StreamCapture::end() {
  join();
  active_ = false;
  cudaGraph_t captured = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(stream_, &captured);
  const CapturedGraph graph(captured);
  gpu::check(ended, "capture a graph");
  stamps_->check();
  cudaGraphExec_t made = nullptr;
  gpu::check(cudaGraphInstantiateWithFlags(&made, graph.get(), 0), "prepare a captured graph");
  ExecutableGraph executable(made);
  gpu::check(cudaGraphUpload(made, stream_), "take a captured graph");  // fails here if too large
  return std::make_unique<CudaGraph>(std::move(executable), std::move(stamps_), anchor_, stream_);
}

// The stream beside it leaves the capture with this one, joined or not.
void StreamCapture::cancel() noexcept {
  if (!std::exchange(active_, false)) return;
  cudaGraph_t captured = nullptr;
  cudaStreamEndCapture(stream_, &captured);
  if (captured != nullptr) cudaGraphDestroy(captured);
  cudaGetLastError();
}

}  // namespace ddbench::device::cuda
