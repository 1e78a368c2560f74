#pragma once

#include <memory>

#include "harness/device/cuda/stamps.h"
#include "harness/device/gpu/gpu.h"
#include "harness/device/graph.h"

namespace ddbench::device::cuda {

/// Captures a stream, and one beside it, as a CUDA graph.
class StreamCapture final : public GraphCapture {
 public:
  /// Both outlive it and its graphs.
  StreamCapture(cudaStream_t stream, const Anchor& anchor);
  ~StreamCapture() override { cancel(); }

  bool active() const noexcept { return active_; }
  /// Stamps the stream itself, while it is captured.
  std::size_t stamp() noexcept { return stamps_->add(stream_, cudaEventRecordExternal); }

  void begin() override;
  void aside(const std::function<void(void* stream)>& action) override;
  void join() override;
  std::size_t stamp_aside() noexcept override { return stamps_->add(beside_.get(), cudaEventRecordExternal); }
  std::unique_ptr<Graph> end() override;
  void cancel() noexcept override;

 private:
  cudaStream_t stream_;
  const Anchor& anchor_;
  const gpu::Stream beside_;
  const gpu::Event fork_;
  const gpu::Event join_;
  std::unique_ptr<Stamps> stamps_;  // of the graph that is captured
  bool active_ = false;
  bool forked_ = false;  // and not joined
};

}  // namespace ddbench::device::cuda
