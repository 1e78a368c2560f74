#include <algorithm>
#include <utility>

#include "harness/model/layers/network.h"
#include "harness/model/layers/network_memory.h"
#include "harness/model/layers/network_schedule.h"
#include "harness/model/layers/pass.h"

namespace ddbench::workload {

using device::DataType;
using device::Tensor;

/// Runs the layers of a network, one after another, on memory that is laid out once.
class NetworkModel final : public Model {
 public:
  NetworkModel(Network network, device::Device& device, std::vector<Parameter> parameters, std::int64_t batch,
               Probe& probe, ParameterSource* source)
      : network_(std::move(network)),
        device_(device),
        source_(source),
        loss_memory_(device.allocate(sizeof(float))),
        cast_name_(probe.intern("cast_weights")),
        input_name_(probe.intern("cast_inputs")) {
    for (const Node& node : network_.nodes()) {
      names_.push_back({probe.intern(node.name + ".forward"), probe.intern(node.name + ".backward"),
                        probe.intern(node.name + ".backward_input"),
                        probe.intern(node.name + ".backward_weight"), probe.intern(node.name + ".recompute")});
    }
    pass_.device_ = &device;
    pass_.batch_size_ = batch;
    pass_.loss_ = {loss_memory_.data(), 1, 1};
    pass_.parameters_ = std::move(parameters);
    pass_.parameter_uses_ = network_.parameter_uses();
    place_values();
    place_weights();
  }

  void scale_loss(float factor) override { pass_.loss_scale_ = factor; }
  void keep_weights(bool keep) override { keeps_weights_ = keep; }

  void queue_forward(const Batch& batch, Probe& probe) override {
    pass_.batch_ = &batch;
    pass_.probe_ = &probe;
    use_memory(true);
    read_weights(probe);
    read_inputs(batch, probe);
    for (std::size_t i = 0; i < network_.nodes().size(); ++i) {
      pass_.names_ = &names_[i];
      fetch_parameters(i, i);
      network_.nodes()[i].layer->forward(pass_);
    }
  }

  double loss() override {
    float loss = 0;
    device_.download(pass_.loss_, &loss);
    return loss;
  }

  void backward(const Batch& batch, Probe& probe, const GradientReady& ready) override {
    pass_.batch_ = &batch;
    pass_.probe_ = &probe;
    pass_.ready_ = &ready;
    pass_.written_.assign(network_.values().size(), false);
    pass_.parameter_writes_.assign(network_.parameters().size(), 0);
    use_memory(false);
    std::size_t number = network_.nodes().size();
    for (const NetworkSchedule::Moment& moment : schedule_.after_forward) {
      fetch_parameters(number++, moment.node);
      const Layer& layer = *network_.nodes()[moment.node].layer;
      pass_.names_ = &names_[moment.node];
      pass_.spare_ = spares_[moment.node];
      pass_.again_ = moment.again;
      moment.again ? layer.forward(pass_) : layer.backward(pass_);
    }
    pass_.again_ = false;
  }

 private:
  /// What is computed again lies elsewhere then.
  void use_memory(bool of_forward) {
    if (of_forward != is_forward_) pass_.values_.swap(other_values_);
    is_forward_ = of_forward;
  }

  void place_values() {
    const NetworkMemory memory = memory_of(network_, pass_.batch_size_);
    const MemoryPlan plan = plan_memory(memory.pieces);
    memory_ = device_.allocate(plan.bytes, device::MemoryUse::kActivations);
    const auto at = [&](std::size_t piece) -> void* {
      if (piece == NetworkMemory::kNowhere) return nullptr;
      return static_cast<std::byte*>(memory_.data()) + plan.offsets[piece];
    };
    for (std::size_t i = 0; i < network_.values().size(); ++i) {
      const ValueInfo& info = network_.values()[i];
      const Tensor tensor{nullptr, rows_of(info, pass_.batch_size_), info.columns, type_of(network_, info), info.stride};
      pass_.values_.push_back(tensor);
      pass_.values_.back().data = at(memory.values[i]);
      other_values_.push_back(pass_.values_.back());
      if (memory.again[i] != NetworkMemory::kNowhere) other_values_.back().data = at(memory.again[i]);
      if (info.kind == ValueKind::kPlaces) write_places(pass_.values_.back(), info.rows);
      pass_.gradients_.push_back(tensor);
      pass_.gradients_.back().data = at(memory.gradients[i]);
    }
    for (const std::size_t piece : memory.spares) spares_.push_back(at(piece));
  }

  /// Each token's place in its sequence.
  void write_places(const Tensor& destination, std::int64_t sequence) {
    std::vector<std::int32_t> places(static_cast<std::size_t>(destination.elements()));
    for (std::size_t place = 0; place < places.size(); ++place) {
      places[place] = static_cast<std::int32_t>(place % static_cast<std::size_t>(sequence));
    }
    device_.upload(places.data(), destination);
  }

  void place_weights() {
    if (source_ != nullptr) {
      weight_memory_.push_back(device_.allocate(weight_scratch_bytes(network_), device::MemoryUse::kParameters));
      for (const Parameter& parameter : pass_.parameters_) pass_.weights_.push_back(parameter.value);
      return;
    }
    for (ParameterIndex i = 0; i < pass_.parameters_.size(); ++i) {
      Tensor weight = pass_.parameters_[i].value;
      if (network_.is_weight(i) && network_.activations() != DataType::kFloat32) {
        weight.type = network_.activations();
        weight_memory_.push_back(device_.allocate(weight.bytes(), device::MemoryUse::kParameters));
        weight.data = weight_memory_.back().data();
      }
      pass_.weights_.push_back(weight);
    }
  }

  /// Those of a node, at a moment of the schedule: where they are now, and the copies of its weights.
  void fetch_parameters(std::size_t moment, std::size_t node) {
    if (source_ == nullptr) return;
    source_->begin(moment);
    auto* copies = static_cast<std::byte*>(weight_memory_.front().data());
    for (const ParameterIndex i : network_.nodes()[node].parameters) {
      const Tensor value = source_->value(i);
      pass_.parameters_[i].value = pass_.weights_[i] = value;
      if (!network_.is_weight(i) || network_.activations() == DataType::kFloat32) continue;
      const bool is_forward = moment < network_.nodes().size();
      const auto span = pass_.probe_->span(is_forward ? SpanKind::kForward : SpanKind::kBackward, cast_name_);
      pass_.weights_[i] = {copies, value.rows, value.columns, network_.activations()};
      device_.narrow(value, 1.0F, pass_.weights_[i]);
      copies += scratch_bytes(network_.parameters()[i], network_.activations());
    }
  }

  /// The optimizer has changed the float32 parameters.
  void read_weights(Probe& probe) {
    if (weight_memory_.empty() || source_ != nullptr || keeps_weights_) return;
    const auto span = probe.span(SpanKind::kForward, cast_name_);
    for (ParameterIndex i = 0; i < pass_.parameters_.size(); ++i) {
      if (network_.is_weight(i)) device_.narrow(pass_.parameters_[i].value, 1.0F, pass_.weights_[i]);
    }
  }

  void read_inputs(const Batch& batch, Probe& probe) {
    for (std::size_t i = 0; i < network_.values().size(); ++i) {
      if (network_.values()[i].kind != ValueKind::kInput) continue;
      Tensor& input = pass_.values_[i];
      if (input.type == DataType::kFloat32) {
        input.data = other_values_[i].data = batch.inputs.data;
      } else {
        const auto span = probe.span(SpanKind::kForward, input_name_);
        device_.narrow(batch.inputs, 1.0F, input);
      }
    }
  }

  Network network_;
  device::Device& device_;
  ParameterSource* const source_;
  device::Buffer memory_;
  device::Buffer loss_memory_;
  std::vector<device::Buffer> weight_memory_;
  const NetworkSchedule schedule_ = schedule_of(network_);
  std::vector<Tensor> other_values_;  // pass_.values_ after forward, and in it
  bool is_forward_ = true;
  bool keeps_weights_ = false;
  std::vector<void*> spares_;  // by node
  std::vector<SpanNames> names_;
  const std::uint32_t cast_name_;
  const std::uint32_t input_name_;
  Pass pass_;
};

std::unique_ptr<Model> make_network_model(Network network, device::Device& device,
                                          std::vector<Parameter> parameters, std::int64_t batch, Probe& probe,
                                          ParameterSource* source) {
  return std::make_unique<NetworkModel>(std::move(network), device, std::move(parameters), batch, probe, source);
}

}  // namespace ddbench::workload
