#include "probes/recorder/span_ring.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/error.h"

namespace ddbench::host {

std::size_t SpanRing::checked_capacity(std::size_t wanted) {
  if (wanted == 0 || wanted > kMaxCapacity) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("ring capacity of {} spans: allowed are 1 to {}", wanted, kMaxCapacity));
  }
  return std::bit_ceil(wanted);
}

// make_unique constructs every Span, which also faults every page in.
SpanRing::SpanRing(std::size_t capacity)
    : mask_(checked_capacity(capacity) - 1), slots_(std::make_unique<Span[]>(mask_ + 1)) {}

std::span<const Span> SpanRing::front() noexcept {
  const std::uint64_t head = consumer_.head.load(std::memory_order_relaxed);
  const std::size_t ready = producer_.tail.load(std::memory_order_acquire) - head;
  const std::size_t first = head & mask_;
  return {&slots_[first], std::min(ready, capacity() - first)};
}

void SpanRing::discard(std::size_t count) noexcept {
  const std::uint64_t head = consumer_.head.load(std::memory_order_relaxed);
  consumer_.head.store(head + count, std::memory_order_release);
}

std::size_t SpanRing::size() const noexcept {
  // Head first: the tail read after it is never behind it.
  const std::uint64_t head = consumer_.head.load(std::memory_order_acquire);
  const std::uint64_t tail = producer_.tail.load(std::memory_order_acquire);
  return std::min<std::size_t>(tail - head, capacity());
}

}  // namespace ddbench::host
