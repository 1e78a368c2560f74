#pragma once

#include "ddbench/device/device.h"
#include "linear_forward.h"

namespace ddbench::device::cpu {

class CpuDevice final : public Device {
 public:
  std::string description() const override { return "cpu, " + onednn_description(); }
  Buffer allocate(std::int64_t bytes) override;
  void synchronize() override {}

  void linear_forward(const Tensor& x, const Tensor& weight, const Tensor& bias, Activation activation,
                      const Tensor& y) override;
  void linear_backward_input(const Tensor& dy, const Tensor& weight, const Tensor& dx) override;
  void linear_backward_weight(const Tensor& x, const Tensor& dy, GradientWrite write, const Tensor& dweight,
                              const Tensor& dbias) override;
  void relu_backward(const Tensor& y, const Tensor& dy) override;
  void softmax_cross_entropy(const Tensor& logits, const Tensor& labels, const Tensor& loss,
                             const Tensor& dlogits) override;
  void fill(const Tensor& destination, float value) override;
  void copy(const Tensor& source, const Tensor& destination) override;
  void scale(const Tensor& values, float factor) override;

  void sgd(const Tensor& parameter, const Tensor& gradient, const Tensor& velocity,
           const SgdSettings& settings) override;
  void adamw(const Tensor& parameter, const Tensor& gradient, const Tensor& m, const Tensor& v,
             const AdamSettings& settings, float lr) override;
  void lamb_direction(const Tensor& parameter, const Tensor& gradient, const Tensor& m, const Tensor& v,
                      const AdamSettings& settings) override;
  void add_scaled(const Tensor& source, float factor, const Tensor& destination) override;
  double squared_norm(const Tensor& values) override;
  void narrow(const Tensor& source, float factor, const Tensor& destination) override;
  void widen(const Tensor& source, const Tensor& destination) override;

 private:
  LinearForward linear_forward_;
};

}  // namespace ddbench::device::cpu
