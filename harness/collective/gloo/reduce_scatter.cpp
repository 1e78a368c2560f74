#include "harness/collective/gloo/reduce_scatter.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "harness/collective/half_sum.h"

namespace ddbench::collective::gloo_backend {
namespace {

// Gloo's own collectives use prefixes from 1 on in the slot's highest byte.
constexpr std::uint64_t kSlot = std::uint64_t{0x60} << 56;
constexpr std::int64_t kMostSegmentBytes = std::int64_t{1} << 20;
constexpr int kSegmentsInFlight = 2;

/// A chunk's worth of hops, divided into segments: part i of the ring's work is segment i % segments of hop i
/// / segments.
struct Plan {
  int rank;
  int world_size;
  std::int64_t chunk;     // elements
  std::int64_t segments;  // of a chunk

  Plan(int own_rank, int ranks, const Elements& output)
      : rank(own_rank), world_size(ranks), chunk(output.count) {
    segments = std::clamp<std::int64_t>((output.bytes() + kMostSegmentBytes - 1) / kMostSegmentBytes,
                                        std::min<std::int64_t>(kSegmentsInFlight, chunk), chunk);
  }
  std::int64_t parts() const { return (world_size - 1) * segments; }
  std::int64_t begin_of(std::int64_t segment) const { return chunk * segment / segments; }

  /// What is sent in part i: the chunk that goes round ends on the rank whose number it has.
  Elements sent(const Elements& input, std::int64_t i) const { return segment_of(input, i, 1); }
  /// Where what arrives in part i is added.
  Elements received(const Elements& input, std::int64_t i) const { return segment_of(input, i, 2); }

 private:
  Elements segment_of(const Elements& input, std::int64_t i, int back) const {
    const auto hop = static_cast<int>(i / segments);
    const int owner = ((rank - hop - back) % world_size + world_size) % world_size;
    const std::int64_t segment = i % segments;
    return input.part(owner * chunk + begin_of(segment), begin_of(segment + 1) - begin_of(segment));
  }
};

}  // namespace

void ring_reduce_scatter(::gloo::Context& context, Elements input, Elements output,
                         std::chrono::milliseconds timeout) {
  const Plan plan(context.rank, context.size, output);
  if (plan.chunk == 0) return;
  const int left = (plan.rank + plan.world_size - 1) % plan.world_size;
  const int right = (plan.rank + 1) % plan.world_size;
  const SumFunction add = sum_function(input.type);
  const auto bytes = [&](std::int64_t elements) {
    return static_cast<std::size_t>(elements * size_of(input.type));
  };

  const std::size_t room = bytes((plan.chunk + plan.segments - 1) / plan.segments);
  std::vector<char> arrived_memory[kSegmentsInFlight];
  std::unique_ptr<::gloo::transport::UnboundBuffer> arrived[kSegmentsInFlight];
  for (int i = 0; i < kSegmentsInFlight; ++i) {
    arrived_memory[i].resize(room);
    arrived[i] = context.createUnboundBuffer(arrived_memory[i].data(), room);
  }
  const auto whole = context.createUnboundBuffer(input.data, bytes(input.count));
  const auto offset_of = [&](const Elements& part) {
    return static_cast<std::size_t>(static_cast<char*>(part.data) - static_cast<char*>(input.data));
  };
  const auto post_receive = [&](std::int64_t i) {
    if (i < plan.parts())
      arrived[i % kSegmentsInFlight]->recv(left, kSlot, 0, bytes(plan.received(input, i).count));
  };
  const auto post_send = [&](std::int64_t i) {
    if (i >= plan.parts()) return;
    const Elements part = plan.sent(input, i);
    whole->send(right, kSlot, offset_of(part), static_cast<std::size_t>(part.bytes()));
  };

  // A hop sends the sums of the hop before it, computed `segments` parts ago.
  for (int i = 0; i < kSegmentsInFlight; ++i) post_receive(i);
  for (std::int64_t i = 0; i < plan.segments; ++i) post_send(i);
  for (std::int64_t i = 0; i < plan.parts(); ++i) {
    auto& buffer = *arrived[i % kSegmentsInFlight];
    buffer.waitRecv(timeout);
    const Elements part = plan.received(input, i);
    add(part.data, part.data, arrived_memory[i % kSegmentsInFlight].data(),
        static_cast<std::size_t>(part.count));
    post_receive(i + kSegmentsInFlight);
    post_send(i + plan.segments);
  }
  for (std::int64_t i = 0; i < plan.parts(); ++i) whole->waitSend(timeout);
  const Elements own = input.part(plan.rank * plan.chunk, plan.chunk);
  if (own.data != output.data) std::memcpy(output.data, own.data, bytes(plan.chunk));
}

}  // namespace ddbench::collective::gloo_backend
