#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "ddbench/device/tensor.h"

namespace ddbench::device {

enum class Activation : std::uint8_t { kNone, kRelu };
enum class GradientWrite : std::uint8_t { kOverwrite, kAccumulate };

struct SgdSettings {
  float lr = 0;
  float momentum = 0;
  float weight_decay = 0;
  float trust_ratio = 1;  ///< of LARS
};

struct AdamSettings {
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float epsilon = 1e-8F;
  float weight_decay = 0;
  float correction1 = 1;  ///< 1 - beta1^t in step t, counted from 1
  float correction2 = 1;  ///< 1 - beta2^t
};

/// Where a rank computes: memory and the operators of the reference workloads.
///
/// B is the batch. Every tensor is dense, row-major and in this device's memory; operators take float32
/// except where they say otherwise, and no two tensors of a call overlap unless it says so. Shapes are
/// checked: a call that does not fit throws Error{kBadInput} that names the operator and the shapes.
/// Operators allocate nothing once a shape has been seen. Results do not depend on addresses or earlier
/// calls, so equal inputs on equal machines give equal bits. One thread at a time; on the CPU an operator is
/// done when it returns, elsewhere after synchronize().
class Device {
 public:
  virtual ~Device() = default;

  /// For people and the stored run: "cpu, oneDNN 2.6.3, AVX512".
  virtual std::string description() const = 0;

  /// Zeroed memory aligned to 64 bytes or better. Throws Error{kEnvironment} when there is not enough.
  virtual Buffer allocate(std::int64_t bytes) = 0;
  virtual void synchronize() = 0;

  /// y[B,out] = activation(x[B,in] * weight[out,in]^T + bias[1,out]), weight as torch.nn.Linear keeps it.
  virtual void linear_forward(const Tensor& x, const Tensor& weight, const Tensor& bias,
                              Activation activation, const Tensor& y) = 0;
  /// dx[B,in] = dy[B,out] * weight[out,in]
  virtual void linear_backward_input(const Tensor& dy, const Tensor& weight, const Tensor& dx) = 0;
  /// dweight[out,in] (+)= dy[B,out]^T * x[B,in] and dbias[1,out] (+)= column sums of dy; kAccumulate adds to
  /// what is there.
  virtual void linear_backward_weight(const Tensor& x, const Tensor& dy, GradientWrite write,
                                      const Tensor& dweight, const Tensor& dbias) = 0;
  /// dy[B,n] becomes 0 where y[B,n], the output of a ReLU, is 0.
  virtual void relu_backward(const Tensor& y, const Tensor& dy) = 0;
  /// loss[1,1] = mean over B of -log softmax(logits[B,C])[label], dlogits[B,C] = its gradient, labels[B,1]
  /// int32 in [0,C).
  virtual void softmax_cross_entropy(const Tensor& logits, const Tensor& labels, const Tensor& loss,
                                     const Tensor& dlogits) = 0;
  virtual void fill(const Tensor& destination, float value) = 0;
  virtual void copy(const Tensor& source, const Tensor& destination) = 0;  ///< equal shapes and types
  virtual void scale(const Tensor& values, float factor) = 0;              ///< in place; averaging

  // What optimizers and gradient reduction are made of: vectors of any shape, equal numbers of elements.

  /// One step as torch.optim.SGD takes it, in place: with d = trust_ratio * (gradient + weight_decay *
  /// parameter), velocity = momentum * velocity + d and parameter -= lr * velocity.
  virtual void sgd(const Tensor& parameter, const Tensor& gradient, const Tensor& velocity,
                   const SgdSettings& settings) = 0;
  /// One step as torch.optim.AdamW takes it (Loshchilov, Hutter 2019), in place: parameter *= 1 - lr *
  /// weight_decay; m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
  /// parameter -= lr / correction1 * m / (sqrt(v) / sqrt(correction2) + epsilon).
  virtual void adamw(const Tensor& parameter, const Tensor& gradient, const Tensor& m, const Tensor& v,
                     const AdamSettings& settings, float lr) = 0;
  /// The direction of a LAMB step (You et al. 2020), m and v as in adamw; `gradient` becomes
  /// (m / correction1) / (sqrt(v / correction2) + epsilon) + weight_decay * parameter.
  virtual void lamb_direction(const Tensor& parameter, const Tensor& gradient, const Tensor& m,
                              const Tensor& v, const AdamSettings& settings) = 0;
  /// destination += factor * source
  virtual void add_scaled(const Tensor& source, float factor, const Tensor& destination) = 0;
  /// The sum of squares, added up in double.
  virtual double squared_norm(const Tensor& values) = 0;
  /// destination = factor * source, rounded to nearest even; source float32, destination of a 16-bit type.
  virtual void narrow(const Tensor& source, float factor, const Tensor& destination) = 0;
  /// destination = source, exactly; source of a 16-bit type, destination float32.
  virtual void widen(const Tensor& source, const Tensor& destination) = 0;
};

/// Opens the module of the device `name` ("cpu"). The calling thread becomes a one-thread rank: the device
/// computes on it and starts no threads. Throws Error{kBadInput} for an unknown name, Error{kEnvironment}
/// when this build or machine lacks it (the message says which package brings it).
std::unique_ptr<Device> make_device(std::string_view name);

/// What the modules of devices export (ddbench/module/module.h).
inline constexpr const char* kDeviceInterface = "device/1";
using DeviceFactory = std::unique_ptr<Device>();

}  // namespace ddbench::device
