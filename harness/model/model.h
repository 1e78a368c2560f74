#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/device/device.h"
#include "harness/model/probe.h"

namespace ddbench::workload {

/// The distribution that a parameter's first values are drawn from.
struct Initial {
  enum class Kind : std::uint8_t { kFanIn, kNormal, kConstant };
  static Initial normal(float deviation) { return {Kind::kNormal, deviation}; }
  static Initial constant(float value) { return {Kind::kConstant, value}; }

  /// kFanIn: uniform in +-1/sqrt(fan_in), as torch.nn.Linear does (kaiming_uniform_ with a = sqrt(5)).
  Kind kind = Kind::kFanIn;
  float value = 0;  ///< the standard deviation around 0, or the constant
};

/// A parameter as a model declares it. A vector is 1 x columns.
struct ParameterSpec {
  std::string name;  ///< "layer0.weight"
  std::int64_t rows = 1;
  std::int64_t columns = 0;
  std::int64_t fan_in = 1;  ///< inputs of the layer it belongs to
  Initial initial;

  std::int64_t elements() const noexcept { return rows * columns; }
  std::int64_t bytes() const noexcept { return elements() * std::int64_t{sizeof(float)}; }
};

/// A parameter and its gradient in a device's memory; whoever trains the model owns the memory (gradients are
/// views into DDP's buckets).
struct Parameter {
  ParameterSpec spec;
  device::Tensor value;
  device::Tensor gradient;
};

/// Draws the first values, one parameter after another, on the host: the same ones on every device.
void initialize(device::Device& device, std::span<const Parameter> parameters, std::uint64_t seed);
/// The same values, handed to `take` with the parameter's index.
void draw_values(std::span<const ParameterSpec> specs, std::uint64_t seed,
                 const std::function<void(std::size_t parameter, const float* values)>& take);

/// When a model reads which parameters: by moment, the parameters of the layer that computes then. Forward's moments come
/// first, those of backward follow.
struct ParameterUses {
  std::size_t forward = 0;  ///< how many moments are forward's
  std::vector<std::vector<std::size_t>> moments;
};

/// Where a model's parameters are while it computes, if they are not always in one place (ZeRO-3).
class ParameterSource {
 public:
  virtual ~ParameterSource() = default;
  /// The model comes to this moment of its ParameterUses, one after another from 0 on. Blocks until the values of the
  /// moment's parameters are there.
  virtual void begin(std::size_t moment) = 0;
  /// Of one of them, as parameter.value would be; until the next begin().
  virtual device::Tensor value(std::size_t parameter) const = 0;
};

struct Batch {
  device::Tensor inputs;  ///< batch x features: float32 numbers or int32 tokens
  device::Tensor labels;  ///< batch x labels a sample, int32
};

/// Called with a parameter's index when backward has written its gradient and will not touch it any more.
using GradientReady = std::function<void(std::size_t parameter)>;

/// A model bound to its parameters and to one batch size. Owns its activations; allocates nothing after
/// construction.
class Model {
 public:
  virtual ~Model() = default;
  /// From the next forward on, gradients are `factor` times those of the loss, 1 times at first. The loss
  /// that forward returns stays as it is.
  virtual void scale_loss(float factor) = 0;
  /// Whether the parameters are those of the forward before, so that copies of them in 16 bits are still right:
  /// in a step's later micro-batches. Until the next call.
  virtual void keep_weights(bool keep) = 0;
  /// Keeps what backward needs, and the loss.
  virtual void queue_forward(const Batch& batch, Probe& probe) = 0;
  /// Mean loss over the labels that count of the last forward's batch, when the device has come to it.
  virtual double loss() = 0;
  double forward(const Batch& batch, Probe& probe) {
    queue_forward(batch, probe);
    return loss();
  }
  /// Overwrites all gradients, each parameter's announced as soon as it is final, the last layer's first.
  /// `batch` is that of the forward before it.
  virtual void backward(const Batch& batch, Probe& probe, const GradientReady& ready) = 0;
};

}  // namespace ddbench::workload
