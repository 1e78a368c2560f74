#include "harness/model/layers/network_memory.h"

#include <algorithm>
#include <limits>

#include "harness/model/layers/network_schedule.h"

namespace ddbench::workload {
namespace {

constexpr std::size_t kNowhere = NetworkMemory::kNowhere;
constexpr int kNever = std::numeric_limits<int>::max();

/// The first and the last moment that something is needed.
struct Moments {
  int first = kNever;
  int last = -1;
  void include(int moment) {
    first = std::min(first, moment);
    last = std::max(last, moment);
  }
};

/// When values, those that are computed again, and gradients are needed.
struct Uses {
  Uses(const Network& network, const NetworkSchedule& schedule)
      : of_value(network.values().size()),
        of_again(network.values().size()),
        of_gradient(network.values().size()),
        last_reader(network.values().size(), 0) {
    for (std::size_t i = 0; i < network.nodes().size(); ++i) add(network.nodes()[i], i, schedule);
  }

  std::vector<Moments> of_value;
  std::vector<Moments> of_again;
  std::vector<Moments> of_gradient;
  std::vector<std::size_t> last_reader;  // node

 private:
  void add(const Node& node, std::size_t number, const NetworkSchedule& schedule) {
    const int again = schedule.again[number];
    const int backward = schedule.backward[number];
    const auto after_forward = [&](const Value& value, int moment) {
      (schedule.recomputed[value.id] ? of_again : of_value)[value.id].include(moment);
    };
    for (const auto* values : {&node.inputs, &node.outputs}) {
      for (const Value& value : *values) {
        of_value[value.id].include(static_cast<int>(number));
        of_gradient[value.id].include(backward);
        if (again != NetworkSchedule::kNever) after_forward(value, again);
      }
    }
    for (const Value& value : node.inputs) last_reader[value.id] = number;
    for (const Value& value : node.kept) after_forward(value, backward);
  }
};

std::size_t end_of_chain(const std::vector<ValueInfo>& values, std::size_t value,
                         std::size_t ValueInfo::*next) {
  while (values[value].*next != value) value = values[value].*next;
  return value;
}

/// The pieces of those that have moments; by value, through the end of its chain.
std::vector<std::size_t> add_pieces(const Network& network, std::int64_t batch,
                                    const std::vector<Moments>& moments, std::size_t ValueInfo::*next,
                                    std::vector<Lifetime>& pieces) {
  const std::vector<ValueInfo>& values = network.values();
  std::vector<Moments> of_chain(values.size());
  for (std::size_t value = 0; value < values.size(); ++value) {
    if (moments[value].last < 0) continue;
    Moments& chain = of_chain[end_of_chain(values, value, next)];
    chain.include(moments[value].first);
    chain.include(moments[value].last);
  }
  std::vector<std::size_t> piece_of(values.size(), kNowhere);
  for (std::size_t value = 0; value < values.size(); ++value) {
    if (of_chain[value].last < 0) continue;
    piece_of[value] = pieces.size();
    const std::int64_t row = std::max(values[value].columns, values[value].stride);
    const std::int64_t elements = rows_of(values[value], batch) * row;
    pieces.push_back(
        {elements * size_of(type_of(network, values[value])), of_chain[value].first, of_chain[value].last});
  }
  for (std::size_t value = 0; value < values.size(); ++value) {
    if (moments[value].last >= 0) piece_of[value] = piece_of[end_of_chain(values, value, next)];
  }
  return piece_of;
}

}  // namespace

std::int64_t rows_of(const ValueInfo& value, std::int64_t batch) noexcept {
  return value.kind == ValueKind::kBatchStatistics ? value.rows : value.rows * batch;
}

device::DataType type_of(const Network& network, const ValueInfo& value) noexcept {
  switch (value.kind) {
    case ValueKind::kInput:
    case ValueKind::kActivation: return network.activations();
    case ValueKind::kPlaces:
    case ValueKind::kZeros: return device::DataType::kInt32;
    default: return device::DataType::kFloat32;
  }
}

NetworkMemory memory_of(const Network& network, std::int64_t batch) {
  const std::vector<Node>& nodes = network.nodes();
  const std::vector<ValueInfo>& values = network.values();
  const NetworkSchedule schedule = schedule_of(network);
  Uses uses(network, schedule);
  for (std::size_t value = 0; value < values.size(); ++value) {
    const ValueInfo& info = values[value];
    if (info.gradient_in_place) uses.of_value[value].include(uses.of_gradient[value].last);
    if (info.kind != ValueKind::kActivation || info.gradient_in_place) uses.of_gradient[value] = {};
    const bool in_batch =
        info.kind == ValueKind::kInput && type_of(network, info) == device::DataType::kFloat32;
    if (in_batch) uses.of_value[value] = {};
    if (info.kind == ValueKind::kInput && !in_batch) uses.of_value[value].include(0);
    if (info.kind == ValueKind::kPlaces || info.kind == ValueKind::kZeros) {
      uses.of_value[value].include(0);
      uses.of_value[value].include(schedule.end);
    }
  }

  NetworkMemory memory;
  memory.values = add_pieces(network, batch, uses.of_value, &ValueInfo::memory_of, memory.pieces);
  memory.again = add_pieces(network, batch, uses.of_again, &ValueInfo::memory_of, memory.pieces);
  memory.gradients = add_pieces(network, batch, uses.of_gradient, &ValueInfo::gradient_memory_of, memory.pieces);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::int64_t bytes = 0;
    for (const Value& value : nodes[i].inputs) {
      if (!nodes[i].overwrites_gradients || uses.last_reader[value.id] == i) continue;
      bytes =
          std::max(bytes, rows_of(values[value.id], batch) * value.columns * size_of(network.activations()));
    }
    memory.spares.push_back(bytes == 0 ? kNowhere : memory.pieces.size());
    if (bytes > 0) memory.pieces.push_back({bytes, schedule.backward[i], schedule.backward[i]});
  }
  for (std::size_t value = 0; value < values.size(); ++value) {
    if (values[value].gradient_in_place) memory.gradients[value] = memory.values[value];
  }
  return memory;
}

std::int64_t memory_bytes(const Network& network, std::int64_t batch) {
  return plan_memory(memory_of(network, batch).pieces).bytes + copied_weight_bytes(network);
}

std::int64_t copied_weight_bytes(const Network& network) {
  std::int64_t bytes = 0;
  if (network.activations() == device::DataType::kFloat32) return bytes;
  for (ParameterIndex i = 0; i < network.parameters().size(); ++i) {
    if (network.is_weight(i)) bytes += network.parameters()[i].elements() * size_of(network.activations());
  }
  return bytes;
}

std::int64_t weight_scratch_bytes(const Network& network) {
  std::int64_t most = 0;
  if (network.activations() == device::DataType::kFloat32) return most;
  for (const Node& node : network.nodes()) {
    std::int64_t bytes = 0;
    for (const ParameterIndex i : node.parameters) {
      if (network.is_weight(i)) bytes += scratch_bytes(network.parameters()[i], network.activations());
    }
    most = std::max(most, bytes);
  }
  return most;
}

std::int64_t scratch_bytes(const ParameterSpec& spec, device::DataType type) noexcept {
  constexpr std::int64_t kLineBytes = 64;
  return (spec.elements() * size_of(type) + kLineBytes - 1) / kLineBytes * kLineBytes;
}

}  // namespace ddbench::workload
