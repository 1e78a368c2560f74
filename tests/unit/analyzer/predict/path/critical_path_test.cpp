#include "analyzer/predict/path/critical_path.h"

#include <gtest/gtest.h>

#include <numeric>

#include "../step_events.h"
#include "analyzer/predict/step_operators.h"

namespace ddbench::analyzer {
namespace {

double sum(const std::vector<PathShare>& shares) {
  return std::accumulate(shares.begin(), shares.end(), 0.0, [](double so_far, const PathShare& share) { return so_far + share.path_ns; });
}

TEST(CriticalPath, PartsRanksBucketsAndOperatorsOfAStep) {
  auto steps = recording({1, 2}, {two_buckets(100, 50, 7), two_buckets(120, 40, 5)}, {50, 60});
  steps.operator_names = {"gemm", "relu", "sgd"};
  for (RankStep& rank : steps.steps[0].ranks) rank.operators = {{0, 0, 75}, {1, 0, 25}, {0, 2, 40}, {2, 6, 7}};
  const CriticalPath path = critical_path(steps);
  EXPECT_EQ(path.steps, 1U);
  EXPECT_DOUBLE_EQ(path.step_ns, 237);
  EXPECT_NEAR(sum(path.parts), 237, 1e-9);
  ASSERT_EQ(path.ranks.size(), 2U);
  EXPECT_DOUBLE_EQ(path.ranks[1].path_ns, 120);
  EXPECT_DOUBLE_EQ(path.ranks[0].path_ns, 7);
  EXPECT_EQ(path.ranks[1].name, "rank 1");
  ASSERT_EQ(path.collectives.size(), 2U);
  EXPECT_EQ(path.collectives[0].name, "all_reduce of bucket 0");
  EXPECT_DOUBLE_EQ(path.collectives[0].path_ns, 50);
  ASSERT_EQ(path.operators.size(), 6U);
  EXPECT_EQ(path.operators[0].name, "gemm");
  EXPECT_EQ(path.operators[0].rank, 1);
  EXPECT_DOUBLE_EQ(path.operators[0].path_ns, 120 * 75.0 / 120);  // 20 of the event had no operator
  EXPECT_DOUBLE_EQ(path.operators[0].slack_ns, 0);
  const auto idle = std::find_if(path.operators.begin(), path.operators.end(),
                                 [](const PathShare& one) { return one.name == "relu" && one.rank == 0; });
  ASSERT_NE(idle, path.operators.end());
  EXPECT_DOUBLE_EQ(idle->slack_ns, 20);
  EXPECT_DOUBLE_EQ(idle->steps_on_path, 0);
}

TEST(CriticalPath, MeansOverBlocksAndOneRankAlone) {
  auto steps = recording({1, 1}, {RankStep{{work(10, WorkKind::kData), work(90)}, {}, {}, {}, 0}}, {});
  steps.steps.push_back(steps.steps[0]);
  steps.steps[1].step = 9;
  steps.steps[1].ranks[0].events[0].ns = 30;
  const CriticalPath path = critical_path(steps);
  EXPECT_DOUBLE_EQ(path.step_ns, 110);
  EXPECT_EQ(path.parts.at(1).name, "data wait");
  EXPECT_DOUBLE_EQ(path.parts.at(1).path_ns, 20);
  EXPECT_TRUE(path.collectives.empty());
  EXPECT_DOUBLE_EQ(path.ranks.at(0).steps_on_path, 1);
}

TEST(StepOperators, SumsOfTheBackwardPassAreTheBucketsOfAProgram) {
  const auto span = [](SpanKind kind, std::int64_t begin, std::int64_t end) {
    Span one;
    one.kind = kind;
    one.begin_ns = begin;
    one.end_ns = end;
    return one;
  };
  const std::vector<Span> spans = {span(SpanKind::kOptimizer, 0, 5), span(SpanKind::kForward, 10, 50), span(SpanKind::kBackward, 50, 100),
                                   span(SpanKind::kOptimizer, 120, 130)};
  const auto collective = [](const char* function, double bytes, std::int64_t begin) {
    RankCollective one;
    one.function = function;
    one.bytes = bytes;
    one.begin_ns = begin;
    return one;
  };
  std::vector<RankCollective> collectives = {collective("all_reduce", 4096, 20), collective("all_reduce", 4096, 60),
                                             collective("all_reduce", 4, 70),    collective("broadcast", 4096, 80),
                                             collective("all_reduce", 4096, 110), collective("all_reduce", 4096, 125)};
  const auto buckets = [&] {
    std::vector<int> numbers;
    for (const RankCollective& one : collectives) numbers.push_back(one.bucket);
    return numbers;
  };
  auto unmarked = collectives;
  number_buckets(spans, 140, collectives);
  EXPECT_EQ(buckets(), (std::vector<int>{-1, 0, -1, -1, 1, -1})) << "statistics of the forward pass, a loss and what follows are none";
  collectives = unmarked;
  number_buckets({}, 140, collectives);
  EXPECT_EQ(buckets(), std::vector<int>(6, -1)) << "where no pass is known";
}

TEST(StepOperators, TheInnermostSpanCounts) {
  const auto span = [](std::int64_t begin, std::int64_t end, std::uint32_t name) {
    Span one;
    one.begin_ns = begin;
    one.end_ns = end;
    one.name_id = name;
    one.kind = SpanKind::kCompute;
    return one;
  };
  // 1 over 0..100, in it 2 over 20..60, in that 3 over 30..40; 4 begins in 1 and ends after it.
  const std::vector<Span> spans = {span(0, 100, 1), span(20, 60, 2), span(30, 40, 3), span(90, 120, 4)};
  const auto operators = operators_in(spans, {{0, 0, 50}, {2, 50, 130}});
  std::vector<std::array<double, 3>> found;
  for (const StepOperator& one : operators) found.push_back({double(one.name), double(one.event), one.ns});
  const std::vector<std::array<double, 3>> expected = {{1, 0, 20}, {2, 0, 10}, {3, 0, 10}, {2, 0, 10}, {2, 2, 10}, {1, 2, 30}, {4, 2, 30}};
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace ddbench::analyzer
