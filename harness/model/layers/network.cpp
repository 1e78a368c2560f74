#include "harness/model/layers/network.h"

#include <utility>

#include "harness/model/layers/network_schedule.h"

namespace ddbench::workload {

Value Network::add_value(ValueKind kind, std::int64_t rows, std::int64_t columns, std::int64_t height,
                         std::int64_t width) {
  const std::size_t id = values_.size();
  values_.push_back(
      {.kind = kind, .rows = rows, .columns = columns, .memory_of = id, .gradient_memory_of = id});
  return {id, rows, columns, height, width};
}

Value Network::input(std::int64_t rows, std::int64_t columns, std::int64_t height, std::int64_t width) {
  return add_value(ValueKind::kInput, rows, columns, height, width);
}

Value Network::value(std::int64_t rows, std::int64_t columns, std::int64_t height, std::int64_t width) {
  return add_value(ValueKind::kActivation, rows, columns, height, width);
}

Value Network::statistics(std::int64_t rows, std::int64_t columns) {
  return add_value(ValueKind::kStatistics, rows, columns, 0, 0);
}

Value Network::batch_statistics(std::int64_t columns) {
  return add_value(ValueKind::kBatchStatistics, 1, columns, 0, 0);
}

Value Network::places(std::int64_t rows) {
  return add_value(ValueKind::kPlaces, rows, 1, 0, 0);
}

Value Network::zeros(std::int64_t rows) {
  return add_value(ValueKind::kZeros, rows, 1, 0, 0);
}

void Network::share_value(Value whole, Value other) {
  values_[other.id].memory_of = whole.id;
}

void Network::share_gradient(Value whole, Value other) {
  values_[other.id].gradient_memory_of = whole.id;
}

void Network::pad_rows(Value value) {
  constexpr std::int64_t kFewColumns = 1024;  // the padding would be a large part of less
  constexpr std::int64_t kAligned = 8;        // 16 bytes in the types of 16 bits
  constexpr std::int64_t kMultiple = 128;
  if (value.columns < kFewColumns || value.columns % kAligned == 0) return;
  values_[value.id].stride = (value.columns + kMultiple - 1) / kMultiple * kMultiple;
}

void Network::replace_by_gradient(Value value) {
  values_[value.id].gradient_in_place = true;
}

bool Network::needs_gradient(Value value) const {
  return values_[value.id].kind == ValueKind::kActivation;
}

ParameterIndex Network::weight(ParameterSpec spec) {
  parameters_.push_back(std::move(spec));
  is_weight_.push_back(true);
  parameter_uses_.push_back(1);
  return parameters_.size() - 1;
}

ParameterIndex Network::vector(ParameterSpec spec) {
  parameters_.push_back(std::move(spec));
  is_weight_.push_back(false);
  parameter_uses_.push_back(1);
  return parameters_.size() - 1;
}

void Network::add(Node node) {
  node.segment = segment_;
  nodes_.push_back(std::move(node));
}

std::vector<LayerFlops> Network::flops() const {
  const NetworkSchedule schedule = schedule_of(*this);
  std::vector<LayerFlops> all;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    if (node.forward_flops == 0) continue;
    const double again = schedule.again[i] == NetworkSchedule::kNever ? 0 : node.forward_flops;
    all.push_back({node.name, node.forward_flops, node.backward_flops, node.recomputed_flops + again});
  }
  return all;
}

}  // namespace ddbench::workload
