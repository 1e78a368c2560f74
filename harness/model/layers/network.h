#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/model/model.h"
#include "harness/model/workload.h"

namespace ddbench::workload {

class Pass;

/// What flows between layers: a matrix of `rows` x `columns` a sample. An image's rows are its pixels, a
/// sequence's its tokens.
struct Value {
  std::size_t id = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t height = 0;  ///< of images: rows = height * width
  std::int64_t width = 0;
};

using ParameterIndex = std::size_t;

/// A step of a network: some operators forward, and their gradients backward.
class Layer {
 public:
  virtual ~Layer() = default;
  virtual void forward(Pass& pass) const = 0;
  virtual void backward(Pass& pass) const = 0;
};

/// A layer in its place. Backward has the gradients of `outputs` and writes those of `inputs`; of the values
/// themselves it reads only those in `kept`.
struct Node {
  std::string name;
  std::unique_ptr<Layer> layer{};
  std::vector<Value> inputs{};
  std::vector<Value> outputs{};
  std::vector<Value> kept{};
  std::vector<std::size_t> parameters{};  ///< that the layer reads
  double forward_flops = 0;
  double backward_flops = 0;
  double recomputed_flops = 0;  ///< what the operators do in backward besides, to save memory
  /// The layer cannot add to gradients of inputs that others have written before it: it uses Pass::write_by.
  bool overwrites_gradients = false;
  static constexpr int kNoSegment = -1;
  int segment = kNoSegment;  ///< Network::begin_segment
};

enum class ValueKind : std::uint8_t { kInput, kActivation, kStatistics, kBatchStatistics, kPlaces, kZeros };

/// How a value is kept. Values that share memory form chains; each lies where the end of its chain lies.
struct ValueInfo {
  ValueKind kind = ValueKind::kActivation;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::size_t memory_of = 0;           ///< the next of the chain, or itself
  std::size_t gradient_memory_of = 0;  ///< likewise
  std::int64_t stride = 0;             ///< device::Tensor::stride
  bool gradient_in_place = false;      ///< the gradient lies in the value's own memory
};

/// What a model is: layers in the order of forward, values and parameters; no memory. Layers add themselves
/// (layers.h).
class Network {
 public:
  explicit Network(device::DataType activations) : activations_(activations) {}

  /// float32, bfloat16 or float16: the type of values that are not statistics, and of the weights that
  /// operators read.
  device::DataType activations() const noexcept { return activations_; }

  /// The numbers of the batch, as images or (height 0) as rows.
  Value input(std::int64_t rows, std::int64_t columns, std::int64_t height = 0, std::int64_t width = 0);
  Value value(std::int64_t rows, std::int64_t columns, std::int64_t height = 0, std::int64_t width = 0);
  /// float32 numbers that a layer writes forward and reads backward; without gradient.
  Value statistics(std::int64_t rows, std::int64_t columns);
  /// Like statistics(), but of the whole batch: not `rows` a sample.
  Value batch_statistics(std::int64_t columns);

  /// Constants, int32, `rows` x 1 a sample: 0, 1, 2, ... in each sample, and zeros.
  Value places(std::int64_t rows);
  Value zeros(std::int64_t rows);

  /// `other` is `whole`, computed in place: one memory for both.
  void share_value(Value whole, Value other);
  /// The gradient of `other` is that of `whole`, whose layer leaves it in place. That layer must be the last
  /// that reads `other`.
  void share_gradient(Value whole, Value other);
  /// Where a row of many columns is no multiple of 16 bytes (GPT-2's vocabulary is odd), rows start at multiples of 128
  /// elements: without it GPUs multiply such matrices several times slower. Only linear layers and the loss take them.
  void pad_rows(Value value);
  /// The gradient of `value` takes the place of the value itself.
  void replace_by_gradient(Value value);

  /// A matrix that operators read in the type of activations.
  ParameterIndex weight(ParameterSpec spec);
  /// A bias or the like: always float32.
  ParameterIndex vector(ParameterSpec spec);
  /// A layer that reads `parameter` besides the one that made it: its gradient is complete after both.
  void share_parameter(ParameterIndex parameter) { ++parameter_uses_[parameter]; }

  void add(Node node);

  /// Nodes that are added until end_segment() are one segment (a transformer's block): with recompute_segments(), what only
  /// they use is not kept for backward, but computed again then.
  void begin_segment() { segment_ = segments_++; }
  void end_segment() { segment_ = Node::kNoSegment; }
  void recompute_segments() { recomputes_ = true; }
  bool recomputes() const noexcept { return recomputes_; }

  bool needs_gradient(Value value) const;
  const std::vector<ValueInfo>& values() const noexcept { return values_; }
  const std::vector<ParameterSpec>& parameters() const noexcept { return parameters_; }
  bool is_weight(ParameterIndex parameter) const { return is_weight_[parameter]; }
  const std::vector<int>& parameter_uses() const noexcept { return parameter_uses_; }
  const std::vector<Node>& nodes() const noexcept { return nodes_; }
  std::vector<LayerFlops> flops() const;

 private:
  Value add_value(ValueKind kind, std::int64_t rows, std::int64_t columns, std::int64_t height,
                  std::int64_t width);

  device::DataType activations_;
  std::vector<ValueInfo> values_;
  std::vector<ParameterSpec> parameters_;
  std::vector<bool> is_weight_;      // by parameter
  std::vector<int> parameter_uses_;  // by parameter
  std::vector<Node> nodes_;
  int segments_ = 0;
  int segment_ = Node::kNoSegment;
  bool recomputes_ = false;
};

/// The model that `network` describes; see Workload::make_model.
std::unique_ptr<Model> make_network_model(Network network, device::Device& device,
                                          std::vector<Parameter> parameters, std::int64_t batch, Probe& probe,
                                          ParameterSource* source);

}  // namespace ddbench::workload
