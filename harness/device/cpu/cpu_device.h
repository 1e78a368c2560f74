#pragma once

#include "harness/device/cpu/convolutions.h"
#include "harness/device/cpu/matrix_products.h"
#include "harness/device/cpu/scratch.h"
#include "harness/device/device.h"

namespace ddbench::device::cpu {

/// One .cpp file a group of operators; each checks the shapes and runs its loops or oneDNN.
class CpuDevice final : public Device {
 public:
  // memory.cpp
  std::string description() const override { return "cpu, " + onednn_description(); }
  bool is_host() const noexcept override { return true; }
  void upload(const void* source, const Tensor& destination) override;
  void upload_ahead(const void* source, const Tensor& destination) override { upload(source, destination); }
  void await_uploads() override {}
  void download(const Tensor& source, void* destination) override;
  void synchronize() override {}
  std::uint64_t mark() override { return 0; }
  void wait_for(std::uint64_t) override {}
  std::size_t stamp() noexcept override;
  std::size_t stamp_uploads() noexcept override { return stamp(); }
  void read_stamps(std::vector<std::int64_t>& times_ns) override;
  void fill(const Tensor& destination, float value) override;
  void copy(const Tensor& source, const Tensor& destination) override;
  void scale(const Tensor& values, float factor) override;

  // side_queue.cpp
  std::unique_ptr<SideQueue> side_queue() override;

  // linear.cpp
  void linear_forward(const Tensor& x, const Tensor& weight, const Tensor& bias, Activation activation,
                      const Tensor& y) override;
  void linear_backward_input(const Tensor& dy, const Tensor& weight, GradientWrite write,
                             const Tensor& dx) override;
  void linear_backward_weight(const Tensor& x, const Tensor& dy, GradientWrite write, const Tensor& dweight,
                              const Tensor& dbias) override;

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

  // batch_norm.cpp
  void batch_norm_forward(const Tensor& x, const Tensor& scale, const Tensor& shift, const Tensor& residual,
                          Activation activation, float epsilon, const BatchStatistics& statistics,
                          const Tensor& y) override;
  void batch_norm_backward(const Tensor& x, const Tensor& y, const Tensor& scale, Activation activation,
                           const BatchStatistics& statistics, const Tensor& dy, GradientWrite write,
                           const Tensor& dscale, const Tensor& dshift, const Tensor& dx) override;

  // layer_norm.cpp
  void layer_norm_forward(const Tensor& x, const Tensor& scale, const Tensor& shift, float epsilon,
                          const Tensor& statistics, const Tensor& y) override;
  void layer_norm_backward(const Tensor& x, const Tensor& scale, const Tensor& statistics, const Tensor& dy,
                           GradientWrite write, const Tensor& dscale, const Tensor& dshift,
                           GradientWrite dx_write, const Tensor& dx) override;

  // elementwise.cpp
  void add(const Tensor& x, const Tensor& y) override;
  void relu_backward(const Tensor& y, const Tensor& dy) override;
  void gelu_forward(Gelu form, const Tensor& x, const Tensor& y) override;
  void gelu_backward(Gelu form, const Tensor& x, const Tensor& dy, const Tensor& dx) override;
  void gather_rows(const Tensor& table, const Tensor& indices, GradientWrite write, const Tensor& y) override;
  void scatter_add_rows(const Tensor& dy, const Tensor& indices, GradientWrite write,
                        const Tensor& dtable) override;

  // attention.cpp
  void attention_forward(const AttentionShape& shape, const Tensor& qkv, const Tensor& statistics,
                         const Tensor& y) override;
  void attention_backward(const AttentionShape& shape, const Tensor& qkv, const Tensor& y,
                          const Tensor& statistics, const Tensor& dy, const Tensor& dqkv) override;

  // cross_entropy.cpp
  void softmax_cross_entropy(const Tensor& logits, const Tensor& labels, const Tensor& loss, float scale,
                             const Tensor& dlogits) override;

  // optimizer_ops.cpp
  void sgd(const Tensor& parameter, const Tensor& gradient, const Tensor& velocity,
           const SgdSettings& settings) override;
  void adamw(const Tensor& parameter, const Tensor& gradient, const Tensor& m, const Tensor& v,
             const AdamSettings& settings, float lr) override;
  void lamb_direction(const Tensor& parameter, const Tensor& gradient, const Tensor& m, const Tensor& v,
                      const AdamSettings& settings) override;
  void add_scaled(const Tensor& source, float factor, const Tensor& destination) override;
  void add_squared_norm(const Tensor& values) override;
  double take_squared_norm() override;
  void narrow(const Tensor& source, float factor, const Tensor& destination) override;
  void widen(const Tensor& source, const Tensor& destination) override;

 private:
  Buffer allocate_memory(std::int64_t bytes) override;
  Buffer allocate_pinned(std::int64_t bytes) override { return allocate_memory(bytes); }

  Scratch scratch_{ledger()};
  std::vector<std::int64_t> stamps_ns_;
  double squares_ = 0;
  MatrixProducts products_;
  Convolutions convolutions_{scratch_};
};

}  // namespace ddbench::device::cpu
