#include "harness/model/layers/network_schedule.h"

#include <algorithm>

namespace ddbench::workload {
namespace {

constexpr int kNoSegment = Node::kNoSegment;

/// By value: the segment of the node that made it, and whether its memory lasts: what is read outside of its segment, what
/// lies in one memory with that, and gradients in place.
class Lasting {
 public:
  explicit Lasting(const Network& network)
      : values_(network.values()), segment_(values_.size(), kNoSegment), lasts_(values_.size(), false) {
    for (const Node& node : network.nodes()) {
      for (const Value& value : node.outputs) segment_[value.id] = node.segment;
    }
    for (const Node& node : network.nodes()) {
      for (const auto* uses : {&node.inputs, &node.kept}) {
        for (const Value& value : *uses) {
          if (segment_[value.id] != node.segment) lasts_[end_of(value.id)] = true;
        }
      }
    }
    for (std::size_t value = 0; value < values_.size(); ++value) {
      const bool alone = segment_[value] == kNoSegment || values_[value].gradient_in_place ||
                         segment_[value] != segment_[end_of(value)];
      if (alone) lasts_[end_of(value)] = true;
    }
  }
  bool operator[](std::size_t value) const { return lasts_[end_of(value)]; }

 private:
  std::size_t end_of(std::size_t value) const {
    while (values_[value].memory_of != value) value = values_[value].memory_of;
    return value;
  }

  const std::vector<ValueInfo>& values_;
  std::vector<int> segment_;
  std::vector<bool> lasts_;
};

/// Marks the nodes of [begin, end) that are computed again, and the values that this makes anew.
void plan_segment(const std::vector<Node>& nodes, std::size_t begin, std::size_t end, const Lasting& lasts,
                  std::vector<bool>& recomputed, std::vector<bool>& runs_again) {
  const auto need = [&](const std::vector<Value>& values) {
    for (const Value& value : values) {
      if (!lasts[value.id]) recomputed[value.id] = true;
    }
  };
  for (std::size_t i = begin; i < end; ++i) need(nodes[i].kept);
  for (std::size_t i = end; i-- > begin;) {
    const auto& outputs = nodes[i].outputs;
    runs_again[i] = std::any_of(outputs.begin(), outputs.end(),
                                [&](const Value& value) { return recomputed[value.id]; });
    if (!runs_again[i]) continue;
    need(nodes[i].inputs);
    need(outputs);
  }
}

}  // namespace

NetworkSchedule schedule_of(const Network& network) {
  const std::vector<Node>& nodes = network.nodes();
  const Lasting lasts(network);
  NetworkSchedule schedule;
  schedule.again.assign(nodes.size(), NetworkSchedule::kNever);
  schedule.backward.assign(nodes.size(), NetworkSchedule::kNever);
  schedule.recomputed.assign(network.values().size(), false);
  std::vector<bool> runs_again(nodes.size(), false);
  const auto next_moment = [&] { return static_cast<int>(nodes.size() + schedule.after_forward.size()); };
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const int segment = nodes[i].segment;
    const bool enters = segment != kNoSegment && (i + 1 == nodes.size() || nodes[i + 1].segment != segment);
    if (network.recomputes() && enters) {
      std::size_t begin = i;
      while (begin > 0 && nodes[begin - 1].segment == segment) --begin;
      plan_segment(nodes, begin, i + 1, lasts, schedule.recomputed, runs_again);
      for (std::size_t j = begin; j <= i; ++j) {
        if (!runs_again[j]) continue;
        schedule.again[j] = next_moment();
        schedule.after_forward.push_back({j, true});
      }
    }
    schedule.backward[i] = next_moment();
    schedule.after_forward.push_back({i, false});
  }
  schedule.end = next_moment() - 1;
  return schedule;
}

ParameterUses uses_of(const Network& network) {
  ParameterUses uses{.forward = network.nodes().size(), .moments = {}};
  for (const Node& node : network.nodes()) uses.moments.push_back(node.parameters);
  for (const NetworkSchedule::Moment& moment : schedule_of(network).after_forward) {
    uses.moments.push_back(network.nodes()[moment.node].parameters);
  }
  return uses;
}

}  // namespace ddbench::workload
