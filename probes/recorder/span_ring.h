#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/span.h"

namespace ddbench::host {

/// A fixed-capacity lock-free queue of spans with one producer thread and one consumer thread.
/// push never allocates, locks, formats or calls the system; a full ring drops the span and counts it.
class SpanRing {
 public:
  static constexpr std::size_t kMaxCapacity = std::size_t{1} << 26;  ///< 3 GiB of spans

  /// `capacity` is rounded up to a power of two; memory is touched here, so that push never faults a page in.
  /// Throws Error{kBadInput} for 0 and for more than kMaxCapacity.
  explicit SpanRing(std::size_t capacity);
  SpanRing(const SpanRing&) = delete;
  SpanRing& operator=(const SpanRing&) = delete;

  /// Producer thread only. False when the ring was full and the span was dropped.
  bool push(const Span& span) noexcept;
  /// Consumer thread only. The oldest spans where they lie, as far as they lie in one piece; empty only when
  /// the ring is. Valid until discard() gives the `count` oldest ones back to the producer.
  std::span<const Span> front() noexcept;
  void discard(std::size_t count) noexcept;

  /// Any thread; a snapshot.
  std::size_t size() const noexcept;
  std::uint64_t pushed() const noexcept { return producer_.tail.load(std::memory_order_relaxed); }
  std::uint64_t dropped() const noexcept { return producer_.dropped.load(std::memory_order_relaxed); }
  std::size_t capacity() const noexcept { return mask_ + 1; }

 private:
  static constexpr std::size_t kCacheLineBytes = 64;
  static std::size_t checked_capacity(std::size_t wanted);

  // Indices count spans since the start and never wrap in practice (2^64); the slot is index & mask_. Each
  // side keeps the other's index as it last saw it, so that in the steady state neither touches the other's
  // cache line.
  struct alignas(kCacheLineBytes) Producer {
    std::atomic<std::uint64_t> tail{0};
    std::uint64_t seen_head = 0;
    std::atomic<std::uint64_t> dropped{0};
  };
  struct alignas(kCacheLineBytes) Consumer {
    std::atomic<std::uint64_t> head{0};
  };

  std::size_t mask_;
  std::unique_ptr<Span[]> slots_;
  Producer producer_;
  Consumer consumer_;
};

inline bool SpanRing::push(const Span& span) noexcept {
  const std::uint64_t tail = producer_.tail.load(std::memory_order_relaxed);
  if (tail - producer_.seen_head > mask_) {
    producer_.seen_head = consumer_.head.load(std::memory_order_acquire);
    if (tail - producer_.seen_head > mask_) {
      producer_.dropped.store(producer_.dropped.load(std::memory_order_relaxed) + 1,
                              std::memory_order_relaxed);
      return false;
    }
  }
  slots_[tail & mask_] = span;
  producer_.tail.store(tail + 1, std::memory_order_release);
  return true;
}

}  // namespace ddbench::host
