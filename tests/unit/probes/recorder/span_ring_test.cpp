#include "probes/recorder/span_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "allocation_counter.h"
#include "core/error.h"
#include "sample_spans.h"

namespace ddbench::host {
namespace {

using testing::numbered_span;

/// Moves up to out.size() of the oldest spans to `out`; returns how many.
std::size_t pop(SpanRing& ring, std::span<Span> out) {
  std::size_t moved = 0;
  while (moved < out.size()) {
    const std::span<const Span> ready = ring.front();
    if (ready.empty()) break;
    const std::size_t count = std::min(ready.size(), out.size() - moved);
    std::copy_n(ready.begin(), count, out.subspan(moved).begin());
    ring.discard(count);
    moved += count;
  }
  return moved;
}

TEST(SpanRing, CapacityIsAPowerOfTwoAndBounded) {
  EXPECT_EQ(SpanRing(1).capacity(), 1u);
  EXPECT_EQ(SpanRing(5).capacity(), 8u);
  EXPECT_EQ(SpanRing(1024).capacity(), 1024u);
  EXPECT_THROW(SpanRing(0), Error);
  EXPECT_THROW(SpanRing(SpanRing::kMaxCapacity + 1), Error);
}

TEST(SpanRing, FullRingDropsAndCounts) {
  SpanRing ring(4);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_TRUE(ring.push(numbered_span(i)));
  EXPECT_FALSE(ring.push(numbered_span(4)));
  EXPECT_FALSE(ring.push(numbered_span(5)));
  EXPECT_EQ(ring.dropped(), 2u);
  EXPECT_EQ(ring.size(), 4u);
  ring.discard(1);
  EXPECT_TRUE(ring.push(numbered_span(6)));
  std::vector<Span> out(8);
  ASSERT_EQ(pop(ring, out), 4u);
  EXPECT_EQ(out[3], numbered_span(6));
  EXPECT_EQ(ring.dropped(), 2u);
}

TEST(SpanRing, FrontIsTheOldestUnbrokenPiece) {
  SpanRing ring(4);
  for (std::uint64_t i = 0; i < 3; ++i) ring.push(numbered_span(i));
  ring.discard(2);
  for (std::uint64_t i = 3; i < 6; ++i) ring.push(numbered_span(i));
  ASSERT_EQ(ring.front().size(), 2u);  // slots 2 and 3; the others lie at the begin of the memory
  EXPECT_EQ(ring.front()[0], numbered_span(2));
  ring.discard(2);
  ASSERT_EQ(ring.front().size(), 2u);
  EXPECT_EQ(ring.front()[1], numbered_span(5));
  ring.discard(2);
  EXPECT_TRUE(ring.front().empty());
}

TEST(SpanRing, BehavesAsABoundedDeque) {
  std::mt19937 random(1);
  for (const std::size_t capacity : {1u, 2u, 8u, 64u}) {
    SpanRing ring(capacity);
    std::deque<Span> model;
    std::uint64_t dropped = 0;
    std::vector<Span> out(2 * capacity);
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      if (random() % 3 != 0) {
        const bool room = model.size() < capacity;
        if (room) model.push_back(numbered_span(i));
        dropped += room ? 0 : 1;
        ASSERT_EQ(ring.push(numbered_span(i)), room);
      } else {
        const std::size_t wanted = random() % (2 * capacity);
        const std::size_t got = pop(ring, std::span(out).first(wanted));
        ASSERT_EQ(got, std::min(wanted, model.size()));
        ASSERT_TRUE(std::equal(out.begin(), out.begin() + got, model.begin()));
        model.erase(model.begin(), model.begin() + got);
      }
      ASSERT_EQ(ring.size(), model.size());
      ASSERT_EQ(ring.dropped(), dropped);
    }
  }
}

TEST(SpanRing, TwoThreadsLoseNothingUncounted) {
  constexpr std::uint64_t kSpans = 100'000;
  SpanRing ring(1024);
  std::vector<std::uint64_t> accepted;
  accepted.reserve(kSpans);
  std::atomic<bool> done{false};
  std::vector<std::uint64_t> received;
  received.reserve(kSpans);
  std::thread consumer([&] {
    std::vector<Span> out(100);
    while (true) {
      const bool last = done.load(std::memory_order_acquire);
      const std::size_t got = pop(ring, out);
      for (std::size_t i = 0; i < got; ++i) {
        const std::uint64_t number = ~out[i].correlation;
        ASSERT_EQ(out[i], numbered_span(number));  // not torn
        received.push_back(number);
      }
      if (got == 0 && last) return;
      if (got == 0) std::this_thread::yield();
    }
  });
  std::uint64_t refused = 0;
  for (std::uint64_t i = 0; i < kSpans; ++i) {
    if (ring.push(numbered_span(i))) {
      accepted.push_back(i);
    } else {
      ++refused;
      std::this_thread::yield();
    }
  }
  done.store(true, std::memory_order_release);
  consumer.join();
  EXPECT_EQ(received, accepted);
  EXPECT_EQ(ring.dropped(), refused);
  EXPECT_EQ(accepted.size() + refused, kSpans);
}

TEST(SpanRing, PushNeverAllocates) {
  SpanRing ring(64);
  const std::uint64_t before = testing::allocations_of_this_thread();
  for (std::uint64_t i = 0; i < 1000; ++i) ring.push(numbered_span(i));
  EXPECT_EQ(testing::allocations_of_this_thread(), before);
  EXPECT_EQ(ring.dropped(), 1000u - 64u);
}

}  // namespace
}  // namespace ddbench::host
