#include "analyzer/finalize/compute_slowdown.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace ddbench::analyzer {
namespace {

const std::vector<std::string> kNames = {"matmul", "all_reduce"};

/// Steps of eight operators of unequal length. The collective begins beside another operator in each step.
/// Operators take `slowdown` times as long beside it.
std::vector<Span> steps_with(double slowdown, std::uint32_t steps, bool moves) {
  std::mt19937 random(11);
  std::lognormal_distribution<double> noise(0, 0.03);
  std::vector<Span> spans;
  std::int64_t now_ns = 1000;
  for (std::uint32_t step = 0; step < steps; ++step) {
    const int first_beside = moves ? 3 + static_cast<int>(random() % 3) : 4;
    std::int64_t communication_ns = 0;
    for (int layer = 0; layer < 8; ++layer) {
      const bool beside = layer >= first_beside;
      if (layer == first_beside) communication_ns = now_ns;
      const double time_ns = 10'000.0 * (1 + layer) * noise(random) * (beside ? slowdown : 1);
      Span span{.begin_ns = now_ns, .end_ns = now_ns + std::llround(time_ns), .step = step};
      span.kind = SpanKind::kBackward;
      now_ns = span.end_ns;
      spans.push_back(span);
    }
    Span collective{.begin_ns = communication_ns, .end_ns = now_ns + 5000, .name_id = 1, .step = step};
    collective.kind = SpanKind::kCommunication;
    spans.push_back(collective);
    now_ns = collective.end_ns;
  }
  return spans;
}

Measured<Estimate> slowdown_of(const std::vector<Span>& spans) {
  ComputeSlowdown slowdown;
  slowdown.add(0, spans, kNames, {0, 1000});
  return slowdown.percent();
}

TEST(ComputeSlowdown, FindsTheTruthWhereOperatorsRunBothBesideCommunicationAndWithout) {
  for (const double truth : {1.0, 1.1, 1.5}) {
    const Measured<Estimate> percent = slowdown_of(steps_with(truth, 200, true));
    ASSERT_TRUE(percent) << percent.reason();
    EXPECT_NEAR(percent->value, 100 * (truth - 1), 2) << truth;
    EXPECT_LE(percent->interval.low, 100 * (truth - 1));
    EXPECT_GE(percent->interval.high, 100 * (truth - 1));
    EXPECT_LT(percent->interval.high - percent->interval.low, 5);
  }
}

TEST(ComputeSlowdown, SaysWhyItIsNotKnown) {
  EXPECT_EQ(slowdown_of({}).reason(), "no communication");
  const Measured<Estimate> fixed = slowdown_of(steps_with(1.5, 200, false));
  ASSERT_FALSE(fixed);
  EXPECT_NE(fixed.reason().find("always or never beside communication"), std::string::npos);
  EXPECT_EQ(slowdown_of(steps_with(1.5, 8, true)).reason(), "too few steps");
}

TEST(ComputeSlowdown, ComparesMicroBatchesOfAStep) {
  // Of two equal micro-batches only the second is beside communication.
  std::vector<Span> spans;
  std::int64_t now_ns = 0;
  for (std::uint32_t step = 0; step < 60; ++step) {
    for (int i = 0; i < 4; ++i) {
      const std::int64_t time_ns = (i % 2 == 0 ? 10'000 : 30'000) * (i >= 2 ? 12 : 10) / 10 + step;
      Span span{.begin_ns = now_ns, .end_ns = now_ns + time_ns, .step = step};
      span.kind = SpanKind::kForward;
      if (i == 2) {
        Span collective{.begin_ns = now_ns, .end_ns = now_ns + 48'200, .name_id = 1, .step = step};
        collective.kind = SpanKind::kCommunication;
        spans.push_back(collective);
      }
      now_ns += time_ns;
      spans.push_back(span);
    }
    now_ns += 10'000;
  }
  ComputeSlowdown slowdown(2);
  slowdown.add(0, spans, kNames, {0, 1000});
  const Measured<Estimate> percent = slowdown.percent();
  ASSERT_TRUE(percent) << percent.reason();
  EXPECT_NEAR(percent->value, 20, 1);
}

}  // namespace
}  // namespace ddbench::analyzer
