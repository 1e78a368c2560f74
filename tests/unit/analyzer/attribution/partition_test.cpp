#include "analyzer/attribution/partition.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

#include "core/program/device_span.h"
#include "core/error.h"

namespace ddbench::analyzer {
namespace {

using store::StepPart;

Span make_span(SpanKind kind, std::int64_t begin_ns, std::int64_t end_ns, std::uint64_t correlation = 0) {
  Span span;
  span.kind = kind;
  span.begin_ns = begin_ns;
  span.end_ns = end_ns;
  span.correlation = correlation;
  return span;
}

/// DESIGN's definition read literally, one nanosecond after the other.
PartitionedStep brute_force(const std::vector<Span>& spans, std::int64_t begin_ns, std::int64_t end_ns,
                            const LastArrivals& arrivals) {
  PartitionedStep result;
  for (std::int64_t t = begin_ns; t < end_ns; ++t) {
    bool busy[store::kStepPartCount] = {};
    for (const Span& span : spans) {
      if (t < span.begin_ns || t >= span.end_ns) continue;
      switch (span.kind) {
        case SpanKind::kForward: busy[0] = true; break;
        case SpanKind::kBackward: busy[1] = true; break;
        case SpanKind::kOptimizer: busy[2] = true; break;
        case SpanKind::kCompute: busy[3] = true; break;
        case SpanKind::kCommunication: {
          const auto found = arrivals.find(span.correlation);
          const bool waits = found != arrivals.end() && t < found->second;
          busy[waits ? 6 : 5] = true;
          result.peer_wait_ns += waits ? 1 : 0;
          break;
        }
        case SpanKind::kCopy: busy[7] = true; break;
        case SpanKind::kDataWait: busy[8] = true; break;
        case SpanKind::kHost: busy[9] = true; break;
        case SpanKind::kStep:
        case SpanKind::kNcclEvent: break;
      }
    }
    int part = 0;
    while (part < 10 && !busy[part]) ++part;
    ++result.partition.ns[static_cast<std::size_t>(part)];
    const bool communicates = busy[5] || busy[6];
    const bool computes = busy[0] || busy[1] || busy[2] || busy[3];
    result.communication_ns += communicates ? 1 : 0;
    result.overlap_ns += communicates && computes ? 1 : 0;
  }
  return result;
}

void expect_equal(const PartitionedStep& got, const PartitionedStep& want) {
  for (int part = 0; part < store::kStepPartCount; ++part) {
    EXPECT_EQ(got.partition.ns[static_cast<std::size_t>(part)],
              want.partition.ns[static_cast<std::size_t>(part)])
        << "part " << part;
  }
  EXPECT_EQ(got.communication_ns, want.communication_ns);
  EXPECT_EQ(got.overlap_ns, want.overlap_ns);
  EXPECT_EQ(got.peer_wait_ns, want.peer_wait_ns);
}

class RandomSpans {
 public:
  explicit RandomSpans(unsigned seed) : generator_(seed) {}

  int below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(generator_); }

  std::vector<Span> draw(int count, std::int64_t range_ns, std::int64_t origin_ns) {
    std::vector<Span> spans;
    for (int i = 0; i < count; ++i) {
      const std::int64_t begin = origin_ns + below(static_cast<int>(range_ns)) - range_ns / 4;
      const std::int64_t length = below(4) == 0 ? 0 : below(static_cast<int>(range_ns) / 2);
      spans.push_back(
          make_span(static_cast<SpanKind>(below(kSpanKindCount)), begin, begin + length, below(6)));
    }
    return spans;
  }

  LastArrivals draw_arrivals(std::int64_t range_ns, std::int64_t origin_ns) {
    LastArrivals arrivals;
    for (std::uint64_t key = 0; key < 6; ++key) {
      if (below(3) != 0) arrivals[key] = origin_ns + below(2 * static_cast<int>(range_ns)) - range_ns / 2;
    }
    return arrivals;
  }

 private:
  std::mt19937 generator_;
};

TEST(PartitionStep, EqualsTheBruteForceOracleOnRandomSpanSets) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    RandomSpans random(seed);
    const std::int64_t origin =
        seed % 3 == 0 ? 0 : -50 + static_cast<std::int64_t>(seed % 7) * 1'000'000'000'000;
    const std::int64_t length = random.below(120);
    const std::vector<Span> spans = random.draw(random.below(25), 80, origin);
    const LastArrivals arrivals = random.draw_arrivals(80, origin);
    const PartitionedStep got = partition_step(spans, origin, origin + length, arrivals);
    SCOPED_TRACE(seed);
    expect_equal(got, brute_force(spans, origin, origin + length, arrivals));
    ASSERT_EQ(got.partition.total_ns(), length);
    if (HasFailure()) return;
  }
}

TEST(PartitionStep, EqualsTheOracleWhereTheRadixSortTakesOver) {
  RandomSpans random(7);
  const std::vector<Span> spans = random.draw(6000, 2000, 1000);
  const LastArrivals arrivals = random.draw_arrivals(2000, 1000);
  expect_equal(partition_step(spans, 1000, 3000, arrivals), brute_force(spans, 1000, 3000, arrivals));
}

TEST(PartitionStep, GivesAnEmptyStepToIdle) {
  const PartitionedStep got = partition_step({}, 100, 350, {});
  EXPECT_EQ(got.partition[StepPart::kIdle], 250);
  EXPECT_EQ(got.partition.total_ns(), 250);
  EXPECT_EQ(partition_step({}, 5, 5, {}).partition.total_ns(), 0);
}

TEST(PartitionStep, FollowsThePriorityOfThePartsWhereAllAreBusy) {
  // Each kind, in order of priority, reaches 10 ns further than the one before it.
  std::vector<Span> spans = {make_span(SpanKind::kForward, 0, 10),
                             make_span(SpanKind::kBackward, 0, 20),
                             make_span(SpanKind::kOptimizer, 0, 30),
                             make_span(SpanKind::kCompute, 0, 40),
                             make_span(SpanKind::kCommunication, 0, 50, 1),
                             make_span(SpanKind::kCommunication, 0, 60, 2),
                             make_span(SpanKind::kCopy, 0, 70),
                             make_span(SpanKind::kDataWait, 0, 80),
                             make_span(SpanKind::kHost, 0, 90)};
  const PartitionedStep got = partition_step(spans, 0, 100, {{2, 60}});
  for (int part = 0; part < store::kStepPartCount; ++part) {
    // Spans do not say it: book_cpu_wait moves it.
    const auto step_part = static_cast<StepPart>(part);
    EXPECT_EQ(got.partition[step_part], step_part == StepPart::kCpuWait ? 0 : 10) << part;
  }
  EXPECT_EQ(got.communication_ns, 60);
  EXPECT_EQ(got.overlap_ns, 40);
  EXPECT_EQ(got.peer_wait_ns, 60);
}

TEST(PartitionStep, AThreadThatWaitsForAGpuDoesNothing) {
  Span wait = make_span(SpanKind::kHost, 10, 60);
  wait.bucket = kDeviceWait;
  const std::vector<Span> spans = {wait, make_span(SpanKind::kHost, 0, 20), make_span(SpanKind::kCompute, 30, 50)};
  const PartitionedStep result = partition_step(spans, 0, 100, {});
  EXPECT_EQ(result.partition[StepPart::kHost], 20);
  EXPECT_EQ(result.partition[StepPart::kOtherCompute], 20);
  EXPECT_EQ(result.partition[StepPart::kIdle], 60);
}

TEST(PartitionStep, SplitsACollectiveAtItsLastArrival) {
  const std::vector<Span> spans = {make_span(SpanKind::kCommunication, 100, 200, 9)};
  const PartitionedStep late_peer = partition_step(spans, 0, 300, {{9, 130}});
  EXPECT_EQ(late_peer.partition[StepPart::kExposedPeerWait], 30);
  EXPECT_EQ(late_peer.partition[StepPart::kExposedTransfer], 70);

  const PartitionedStep own_last = partition_step(spans, 0, 300, {{9, 90}});
  EXPECT_EQ(own_last.partition[StepPart::kExposedPeerWait], 0);
  EXPECT_EQ(own_last.partition[StepPart::kExposedTransfer], 100);

  const PartitionedStep never_all_there = partition_step(spans, 0, 300, {{9, 5000}});
  EXPECT_EQ(never_all_there.partition[StepPart::kExposedPeerWait], 100);

  const PartitionedStep unknown = partition_step(spans, 0, 300, {});
  EXPECT_EQ(unknown.partition[StepPart::kExposedTransfer], 100);
}

TEST(PartitionStep, CutsACollectiveThatReachesOverBothEnds) {
  const std::vector<Span> spans = {make_span(SpanKind::kCommunication, -1000, 1000, 9)};
  const PartitionedStep got = partition_step(spans, 0, 100, {{9, 25}});
  EXPECT_EQ(got.partition[StepPart::kExposedPeerWait], 25);
  EXPECT_EQ(got.partition[StepPart::kExposedTransfer], 75);
  EXPECT_EQ(got.peer_wait_ns, 25);
}

TEST(PartitionStep, IgnoresDamagedSpansAndSurvivesExtremeTimes) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const std::vector<Span> spans = {make_span(SpanKind::kForward, 60, 40),
                                   make_span(SpanKind::kHost, kMin, kMax),
                                   make_span(SpanKind::kForward, kMax, kMin)};
  EXPECT_EQ(partition_step(spans, 0, 100, {}).partition[StepPart::kHost], 100);
  EXPECT_EQ(partition_step(spans, kMax - 100, kMax, {}).partition[StepPart::kHost], 100);
}

TEST(PartitionStep, RefusesAStepThatCannotBe) {
  EXPECT_THROW(partition_step({}, 10, 9, {}), Error);
  EXPECT_THROW(partition_step({}, std::numeric_limits<std::int64_t>::min(),
                              std::numeric_limits<std::int64_t>::max(), {}),
               Error);
}

TEST(PartitionStep, CountsOneMillionNestedSpansOnce) {
  std::vector<Span> spans;
  for (int i = 0; i < 1'000'000; ++i) spans.push_back(make_span(SpanKind::kBackward, i, 2'000'000 - i));
  const PartitionedStep got = partition_step(spans, 0, 3'000'000, {});
  EXPECT_EQ(got.partition[StepPart::kBackward], 2'000'000);
  EXPECT_EQ(got.partition[StepPart::kIdle], 1'000'000);
}

}  // namespace
}  // namespace ddbench::analyzer
