#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ddbench/record/span.h"

namespace ddbench::host {

/// A fixed-capacity lock-free queue of spans with one producer thread and one consumer thread.
/// push never allocates, locks, formats or calls the system; a full ring drops the span and counts it.
class SpanRing {
 public:
  /// `capacity` is rounded up to a power of two; memory is touched here, so that push never faults a page in.
  explicit SpanRing(std::size_t capacity);
  ~SpanRing();
  SpanRing(const SpanRing&) = delete;
  SpanRing& operator=(const SpanRing&) = delete;

  /// Producer thread only. False when the ring was full and the span was dropped.
  bool push(const Span& span) noexcept;
  /// Consumer thread only. Moves up to out.size() of the oldest spans to `out`; returns how many.
  std::size_t pop(std::span<Span> out) noexcept;
  /// Any thread.
  std::uint64_t dropped() const noexcept;
  std::size_t capacity() const noexcept;

  // (storage is the implementer's business: cache-line separated indices, inline push)
};

}  // namespace ddbench::host
