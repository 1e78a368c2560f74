#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "harness/device/cuda/cudnn/convolutions.h"
#include "harness/device/cuda/cudnn/fused_attention.h"
#include "harness/device/cuda/kernels/kernels.h"
#include "harness/device/cuda/kernels/scratch.h"
#include "harness/device/cuda/matrix_products.h"
#include "harness/device/cuda/stamps.h"
#include "harness/device/cuda/stream_capture.h"
#include "harness/device/device.h"
#include "harness/device/gpu/gpu.h"

namespace ddbench::device::cuda {

/// One GPU, with a stream of its own. One .cpp file a group of operators; each checks the shapes and queues
/// its kernels, or those of cuBLASLt and cuDNN.
class CudaDevice final : public Device {
 public:
  explicit CudaDevice(const DeviceOptions& options);
  ~CudaDevice() override;

  // memory.cpp
  std::string description() const override;
  bool is_host() const noexcept override { return false; }
  std::int64_t reserved_peak_bytes() const noexcept override;
  void download(const Tensor& source, void* destination) override;
  void fill(const Tensor& destination, float value) override;
  void copy(const Tensor& source, const Tensor& destination) override;

  // uploads.cpp
  void upload(const void* source, const Tensor& destination) override;
  void upload_ahead(const void* source, const Tensor& destination) override;
  void await_uploads() override;
  std::size_t stamp_uploads() noexcept override;

  // queue.cpp
  void synchronize() override;
  std::uint64_t mark() override;
  void wait_for(std::uint64_t mark) override;
  void* event_of(std::uint64_t mark) noexcept override { return marks_[mark % marks_.size()].get(); }
  std::size_t stamp() noexcept override;
  void read_stamps(std::vector<std::int64_t>& times_ns) override;
  GraphCapture* graph_capture() noexcept override { return &capture_; }

  // side_queue.cpp
  std::unique_ptr<SideQueue> side_queue() override;

  // linear.cpp
  void linear_forward(const Tensor& x, const Tensor& weight, const Tensor& bias, Activation activation,
                      const Tensor& y) override;
  void linear_backward_input(const Tensor& dy, const Tensor& weight, GradientWrite write,
                             const Tensor& dx) override;
  void linear_backward_weight(const Tensor& x, const Tensor& dy, GradientWrite write, const Tensor& dweight,
                              const Tensor& dbias) override;
  bool fuses_gelu(Gelu form) const noexcept override { return form == Gelu::kTanh; }  // as cuBLASLt computes it
  void linear_gelu_forward(const Tensor& x, const Tensor& weight, const Tensor& bias, Gelu form,
                           const Tensor& before, const Tensor& y) override;
  void linear_gelu_backward_input(const Tensor& dy, const Tensor& weight, Gelu form, const Tensor& before,
                                  const Tensor& dbefore) override;

  // images.cpp
  void conv2d_forward(const Window& window, const Tensor& x, const Tensor& weight, const Tensor& y) override;
  void conv2d_backward_input(const Window& window, const Tensor& dy, const Tensor& weight,
                             const Tensor& dx) override;
  void conv2d_backward_weight(const Window& window, const Tensor& x, const Tensor& dy, GradientWrite write,
                              const Tensor& dweight) override;
  void max_pool_forward(const Window& window, const Tensor& x, const Tensor& y) override;
  void max_pool_backward(const Window& window, const Tensor& x, const Tensor& y, const Tensor& dy,
                         const Tensor& dx) override;
  void average_pool_forward(const Tensor& x, const Tensor& y) override;
  void average_pool_backward(const Tensor& dy, const Tensor& dx) override;

  // norms.cpp
  void batch_norm_forward(const Tensor& x, const Tensor& scale, const Tensor& shift, const Tensor& residual,
                          Activation activation, float epsilon, const BatchStatistics& statistics,
                          const Tensor& y) override;
  void batch_norm_backward(const Tensor& x, const Tensor& y, const Tensor& scale, Activation activation,
                           const BatchStatistics& statistics, const Tensor& dy, GradientWrite write,
                           const Tensor& dscale, const Tensor& dshift, const Tensor& dx) override;
  void layer_norm_forward(const Tensor& x, const Tensor& scale, const Tensor& shift, float epsilon,
                          const Tensor& statistics, const Tensor& y) override;
  bool fuses_residual() const noexcept override { return true; }
  void add_layer_norm_forward(const Tensor& x, const Tensor& sum, const Tensor& scale, const Tensor& shift,
                              float epsilon, const Tensor& statistics, const Tensor& y) override;
  void layer_norm_backward(const Tensor& x, const Tensor& scale, const Tensor& statistics, const Tensor& dy,
                           GradientWrite write, const Tensor& dscale, const Tensor& dshift,
                           GradientWrite dx_write, const Tensor& dx) override;

  // operators.cpp
  void add(const Tensor& x, const Tensor& y) override;
  void relu_backward(const Tensor& y, const Tensor& dy) override;
  void gelu_forward(Gelu form, const Tensor& x, const Tensor& y) override;
  void gelu_backward(Gelu form, const Tensor& x, const Tensor& dy, const Tensor& dx) override;
  void gather_rows(const Tensor& table, const Tensor& indices, GradientWrite write, const Tensor& y) override;
  void scatter_add_rows(const Tensor& dy, const Tensor& indices, GradientWrite write,
                        const Tensor& dtable) override;
  void softmax_cross_entropy(const Tensor& logits, const Tensor& labels, const Tensor& loss, float scale,
                             const Tensor& dlogits) override;

  // attention.cpp
  void attention_forward(const AttentionShape& shape, const Tensor& qkv, const Tensor& statistics,
                         const Tensor& y) override;
  void attention_backward(const AttentionShape& shape, const Tensor& qkv, const Tensor& y,
                          const Tensor& statistics, const Tensor& dy, const Tensor& dqkv) override;

  // optimizer_ops.cpp
  void scale(const Tensor& values, float factor) override;
  void sgd(const Tensor& parameter, const Tensor& gradient, const Tensor& velocity,
           const SgdSettings& settings) override;
  void adamw(const Tensor& parameter, const Tensor& gradient, const Tensor& m, const Tensor& v,
             const AdamSettings& settings, float lr) override;
  void adamw_each(std::span<const AdamTensors> tensors, const AdamSettings& settings, float lr) override;
  void set_adamw(const AdamSettings& settings, float lr) override;
  void lamb_direction(const Tensor& parameter, const Tensor& gradient, const Tensor& m, const Tensor& v,
                      const AdamSettings& settings) override;
  void add_scaled(const Tensor& source, float factor, const Tensor& destination) override;
  void add_squared_norm(const Tensor& values) override;
  double take_squared_norm() override;
  void narrow(const Tensor& source, float factor, const Tensor& destination) override;
  void widen(const Tensor& source, const Tensor& destination) override;

 private:
  Buffer allocate_memory(std::int64_t bytes) override;
  Buffer allocate_pinned(std::int64_t bytes) override;

  const void* fitting_bias(const Tensor& bias, DataType type);
  void backward_weight(const Tensor& x, const Tensor& dy, GradientWrite write, const Tensor& dweight,
                       const Tensor& dbias);

  cudaError_t order_uploads() noexcept;
  cudaError_t end_uploads() noexcept;

  const DeviceOptions options_;
  const int device_;
  const gpu::Stream stream_;
  Scratch scratch_;
  MatrixProducts products_;
  const CudnnHandle cudnn_;
  Convolutions convolutions_;
  FusedAttention fused_attention_;

  // Mark n is in slot n modulo their number. Horovod makes one for each parameter of a step.
  std::array<gpu::Event, 2048> marks_;
  std::uint64_t next_mark_ = 0;
  Stamps stamps_;
  Anchor anchor_;
  StreamCapture capture_{stream_.get(), anchor_};
  const gpu::Stream upload_stream_;
  const gpu::Event queued_;    // work queued before the last upload_ahead()
  const gpu::Event uploaded_;  // the last upload ahead
  struct AdamTable {  // of adamw_each(): what is in the GPU's memory
    std::vector<AdamPiece> pieces;
    Buffer memory;
  };
  std::map<const void*, AdamTable> adam_tables_;  // by the first parameter
  Buffer adam_step_;           // an AdamStep, of adamw_each() in graphs
  Buffer squares_;             // the sum, and partial sums behind it
};

/// Throws Error{kBadInput} unless the tensors' type is one that activations may have.
void expect_activations(const char* operation, const Tensor& tensor);

}  // namespace ddbench::device::cuda
