#include "analyzer/finalize/program_cpu_wait.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace ddbench::analyzer {
namespace {

Span host_span(std::int64_t begin_ns, std::int64_t end_ns, std::uint32_t name_id, std::uint64_t wait_ns) {
  Span span;
  span.begin_ns = begin_ns;
  span.end_ns = end_ns;
  span.kind = SpanKind::kHost;
  span.name_id = name_id;
  span.bytes = wait_ns;
  return span;
}

Span step_span(std::int64_t begin_ns, std::int64_t end_ns, std::uint32_t step) {
  Span span = host_span(begin_ns, end_ns, 2, 0);
  span.kind = SpanKind::kStep;
  span.step = step;
  return span;
}

ProgramRank empty_rank() {
  return {{}, {std::string(kCpuWaitMain), std::string(kCpuWaitCommunication), "step"}};
}

TEST(ProgramCpuWait, ARankWithoutReadingsDidNotMeasureIt) {
  ProgramRank rank = empty_rank();
  rank.spans = {step_span(0, 100, 0)};
  EXPECT_FALSE(take_cpu_wait(rank));
  EXPECT_EQ(rank.spans.size(), 1u);
}

TEST(ProgramCpuWait, TheFirstReadingSaysThatItIsMeasuredAndNothingMore) {
  ProgramRank rank = empty_rank();
  rank.spans = {host_span(10, 10, 0, 0), step_span(0, 100, 7)};
  const auto readings = take_cpu_wait(rank);
  ASSERT_TRUE(readings);
  EXPECT_TRUE(readings->empty());
  ASSERT_EQ(rank.spans.size(), 1u);
  const auto waits = cpu_wait_of_steps(*readings, rank.spans);
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits.at(7).main_ns, 0);
  EXPECT_EQ(waits.at(7).communication_ns, 0);
}

TEST(ProgramCpuWait, AWaitLiesEvenlyOverItsReading) {
  ProgramRank rank = empty_rank();
  rank.spans = {host_span(50, 250, 0, 100), host_span(150, 190, 1, 30), step_span(100, 200, 0),
                step_span(200, 300, 1)};
  const auto readings = take_cpu_wait(rank);
  ASSERT_TRUE(readings);
  const auto waits = cpu_wait_of_steps(*readings, rank.spans);
  EXPECT_EQ(waits.at(0).main_ns, 50) << "100 of the 200 ns of the reading";
  EXPECT_EQ(waits.at(1).main_ns, 25);
  EXPECT_EQ(waits.at(0).communication_ns, 30);
  EXPECT_EQ(waits.at(1).communication_ns, 0);
}

TEST(ProgramCpuWait, IsNeverLongerThanItsReading) {
  ProgramRank rank = empty_rank();
  rank.spans = {host_span(0, 100, 0, ~std::uint64_t{0}), host_span(100, 90, 1, 5), step_span(0, 100, 0)};
  const auto readings = take_cpu_wait(rank);
  ASSERT_TRUE(readings);
  ASSERT_EQ(readings->size(), 1u) << "one that ends before it begins has no time to wait in";
  EXPECT_EQ(cpu_wait_of_steps(*readings, rank.spans).at(0).main_ns, 100);
}

/// Against a sum over each nanosecond: steps with gaps, readings of several threads that overlap.
TEST(ProgramCpuWait, EqualsASumOverEachNanosecond) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    ProgramRank rank = empty_rank();
    std::int64_t at_ns = 0;
    for (std::uint32_t step = 0; step < 8; ++step) {
      at_ns += random() % 20;
      const std::int64_t end_ns = at_ns + 1 + random() % 60;
      rank.spans.push_back(step_span(at_ns, end_ns, step));
      at_ns = end_ns;
    }
    const std::vector<Span> steps = rank.spans;
    std::vector<double> expected(8);
    for (int i = 0; i < 30; ++i) {
      const std::int64_t begin_ns = random() % 500;
      const std::int64_t length_ns = 1 + random() % 40;
      const auto wait_ns = static_cast<std::uint64_t>(random() % (length_ns + 1));
      rank.spans.push_back(host_span(begin_ns, begin_ns + length_ns, 0, wait_ns));
      for (std::int64_t t = begin_ns; t < begin_ns + length_ns; ++t)
        for (const Span& step : steps)
          if (t >= step.begin_ns && t < step.end_ns)
            expected[step.step] += static_cast<double>(wait_ns) / static_cast<double>(length_ns);
    }
    const auto readings = take_cpu_wait(rank);
    ASSERT_TRUE(readings);
    const auto waits = cpu_wait_of_steps(*readings, rank.spans);
    for (std::uint32_t step = 0; step < 8; ++step)
      EXPECT_NEAR(static_cast<double>(waits.at(step).main_ns), expected[step], 30) << "each is rounded down";
  }
}

}  // namespace
}  // namespace ddbench::analyzer
