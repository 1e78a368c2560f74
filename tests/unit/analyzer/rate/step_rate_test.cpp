#include "analyzer/rate/step_rate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "analyzer/rate/run_partition.h"

namespace ddbench::analyzer {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// Steps of ranks on one clock, in the order of the store.
class RanksAtWork {
 public:
  explicit RanksAtWork(int ranks) : ends_ns_(static_cast<std::size_t>(ranks), 0) {
    for (int rank = 0; rank < ranks; ++rank) {
      ranks_.emplace_back().rank = rank;
      ranks_.back().clock.shared_clock = true;
    }
  }

  /// Each rank's next step begins where its last one ended.
  void step(const std::vector<std::int64_t>& durations_ns) {
    for (std::size_t rank = 0; rank < ends_ns_.size(); ++rank) {
      store::StepRecord& record = records_.emplace_back();
      record.rank = static_cast<int>(rank);
      record.step = step_;
      record.begin_ns = ends_ns_[rank] - ranks_[rank].clock.start.offset_ns;
      record.duration_ns = durations_ns[rank];
      record.partition[store::StepPart::kBackward] = record.duration_ns;
      ends_ns_[rank] += record.duration_ns;
    }
    ++step_;
  }
  /// All ranks end a step when the last one has done its work, as they do after a collective.
  void synchronous_step(std::int64_t longest_ns) {
    step(std::vector<std::int64_t>(ends_ns_.size(), longest_ns));
  }
  void pause(std::int64_t pause_ns) {
    for (std::int64_t& end_ns : ends_ns_) end_ns += pause_ns;
  }
  void set_clock_offset(std::size_t rank, std::int64_t offset_ns) {
    ranks_[rank].clock.shared_clock = false;
    ranks_[rank].clock.start = {1, offset_ns, 10};
    ranks_[rank].clock.end = {1'000'000'000'000, offset_ns, 10};
  }
  void forget_clocks() {
    for (store::RankRecord& rank : ranks_) rank.clock = {};
  }

  MeasuredSteps measured(std::uint32_t first_step = 0) const {
    return measured_steps(records_, first_step, ranks_, ranks_.size());
  }
  StepRate rate(std::uint32_t first_step = 0) const { return step_rate(measured(first_step), true).value(); }
  std::vector<store::StepRecord>& records() { return records_; }

 private:
  std::vector<std::int64_t> ends_ns_;
  std::vector<store::RankRecord> ranks_;
  std::vector<store::StepRecord> records_;
  std::uint32_t step_ = 0;
};

TEST(StepRate, TwoRanksThatAlternateTakeTheirMeanAndNotTheirMaximum) {
  RanksAtWork ranks(2);
  for (int pair = 0; pair < 30; ++pair) {
    ranks.step({10 * kMs, 20 * kMs});
    ranks.step({20 * kMs, 10 * kMs});
  }
  const StepRate rate = ranks.rate();
  EXPECT_DOUBLE_EQ(rate.step_time_ns.value, 15.0 * kMs);
  EXPECT_DOUBLE_EQ(rate.samples_per_s(128), 128 / 15e-3);
  EXPECT_DOUBLE_EQ(*rate.distribution.skew_ns, 10.0 * kMs);
  EXPECT_DOUBLE_EQ(rate.distribution.max_ns, 20.0 * kMs);
  EXPECT_LE(rate.step_time_ns.interval->low, 15.0 * kMs);
  EXPECT_GE(rate.step_time_ns.interval->high, 15.0 * kMs);
}

TEST(StepRate, SlowStepsCountAsLongAsTheyTook) {
  RanksAtWork ranks(2);
  std::int64_t elapsed_ns = 0;
  for (int step = 0; step < 400; ++step) {
    const std::int64_t step_ns = 2 * kMs + (step % 7) * 1000 + (step % 100 == 99 ? 90 * kMs : 0);
    ranks.synchronous_step(step_ns);
    elapsed_ns += step_ns;
  }
  const StepRate rate = ranks.rate();
  EXPECT_EQ(rate.elapsed_ns, elapsed_ns);
  EXPECT_DOUBLE_EQ(rate.samples_per_s(64), 400 * 64 * 1e9 / static_cast<double>(elapsed_ns));
  EXPECT_EQ(rate.distribution.outliers, 4);
  EXPECT_DOUBLE_EQ(rate.distribution.outlier_share, 0.01);
  EXPECT_NEAR(rate.distribution.lost_share, 4 * 90.0 * kMs / static_cast<double>(elapsed_ns), 1e-4);
  EXPECT_LT(rate.distribution.p95_ns, 3.0 * kMs);
  EXPECT_GT(rate.distribution.max_ns, 90.0 * kMs);
}

/// Ranks that never wait for each other, each late by an exponential time of 5% of the step: they lose no
/// throughput but those 5%, which one rank loses as well.
TEST(StepRate, JitterThatNobodyWaitsForIsNoLossOfEfficiency) {
  std::mt19937_64 generator(1);
  std::exponential_distribution<double> lateness(1.0 / 0.05);
  for (const int count : {16, 64}) {
    RanksAtWork ranks(count);
    RanksAtWork one(1);
    for (int step = 0; step < 400; ++step) {
      std::vector<std::int64_t> durations_ns;
      for (int rank = 0; rank < count; ++rank)
        durations_ns.push_back(std::llround(10 * kMs * (1 + lateness(generator))));
      ranks.step(durations_ns);
      one.step({std::llround(10 * kMs * (1 + lateness(generator)))});
    }
    const StepRate here = ranks.rate();
    const StepRate alone = one.rate();
    const double efficiency = alone.step_time_ns.value / here.step_time_ns.value;
    const double reach = here.step_time_ns.interval->high / here.step_time_ns.value +
                         alone.step_time_ns.interval->high / alone.step_time_ns.value - 2;
    EXPECT_NEAR(efficiency, 1, std::max(reach, 0.01)) << count << " ranks";
    EXPECT_LT(reach, 0.03);
  }
}

TEST(StepRate, ClocksAreAlignedFirst) {
  RanksAtWork ranks(2);
  ranks.set_clock_offset(0, 0);
  ranks.set_clock_offset(1, 7'000 * kMs);
  for (int step = 0; step < 20; ++step) ranks.synchronous_step(10 * kMs);
  EXPECT_DOUBLE_EQ(ranks.rate().step_time_ns.value, 10.0 * kMs);
  ranks.forget_clocks();
  const StepRate rate = ranks.rate();
  EXPECT_FALSE(rate.clocks_known);
  EXPECT_DOUBLE_EQ(rate.step_time_ns.value, 10.0 * kMs) << "each rank's own clock still counts";
}

TEST(StepRate, TimeOfNoStepIsLeftOutAndReported) {
  RanksAtWork ranks(2);
  for (int step = 0; step < 12; ++step) {
    ranks.synchronous_step(10 * kMs);
    if (step % 4 == 3) ranks.pause(500 * kMs);
  }
  const StepRate rate = ranks.rate();
  EXPECT_DOUBLE_EQ(rate.step_time_ns.value, 10.0 * kMs);
  EXPECT_EQ(rate.left_out_ns, 1000 * kMs) << "after the last step nothing is left out";
}

TEST(StepRate, AStepThatARankDidNotRecordIsNotMeasured) {
  RanksAtWork ranks(2);
  for (int step = 0; step < 12; ++step) ranks.synchronous_step(step == 5 ? 500 * kMs : 10 * kMs);
  ranks.records().erase(ranks.records().begin() + 11);  // step 5 of rank 1
  const StepRate rate = ranks.rate(2);
  EXPECT_EQ(rate.steps, 9);
  EXPECT_DOUBLE_EQ(rate.step_time_ns.value, 10.0 * kMs);
  EXPECT_EQ(rate.left_out_ns, 500 * kMs);
}

TEST(StepRate, IsMissingWithoutStepsOrTime) {
  RanksAtWork ranks(2);
  EXPECT_EQ(step_rate(ranks.measured(), true).reason(), "no steps");
  for (int step = 0; step < 12; ++step) ranks.synchronous_step(0);
  EXPECT_NE(step_rate(ranks.measured(), true).reason().find("clock stood still"), std::string::npos);
}

TEST(StepRate, FewStepsHaveNoInterval) {
  RanksAtWork ranks(1);
  for (int step = 0; step < 4; ++step) ranks.synchronous_step(10 * kMs);
  EXPECT_DOUBLE_EQ(ranks.rate().step_time_ns.value, 10.0 * kMs);
  EXPECT_FALSE(ranks.rate().step_time_ns.interval);
  EXPECT_EQ(ranks.rate().independent_steps.reason(), ranks.rate().step_time_ns.interval.reason());
}

TEST(StepRate, AFirstStepOfHalfTheTimeLeavesNoInterval) {
  RanksAtWork ranks(1);
  for (int step = 0; step < 22; ++step) ranks.synchronous_step(step == 0 ? 20 * kMs : kMs - step * 1000);
  const StepRate rate = ranks.rate();
  EXPECT_TRUE(rate.step_time_ns.interval.reason().starts_with("one step dominates")) << rate.step_time_ns.interval.reason();
  EXPECT_FALSE(rate.independent_steps);
  EXPECT_FALSE(rate_interval(64, rate.step_time_ns.interval));
}

TEST(RunPartition, SumsToTheStepTimeThoughProbedStepsWereFaster) {
  RanksAtWork ranks(2);
  for (int step = 0; step < 40; ++step) {
    const bool probed = step % 4 != 3;
    ranks.step({probed ? 9 * kMs : 13 * kMs, 7 * kMs});
    for (std::size_t record = ranks.records().size() - 2; record < ranks.records().size(); ++record)
      ranks.records()[record].probes_on = probed;
  }
  const MeasuredSteps measured = ranks.measured();
  const StepRate rate = step_rate(measured, true).value();
  const RunPartition partition = run_partition(ranks.records(), measured, rate, true).value();
  EXPECT_DOUBLE_EQ(rate.step_time_ns.value, 10.0 * kMs);
  EXPECT_EQ(partition.probed_steps, 30);
  EXPECT_EQ(partition.parts.total_ns(), 10 * kMs);
  EXPECT_EQ(partition.parts[store::StepPart::kBackward], std::llround(8.5 * kMs)) << "mean over ranks and steps";
  EXPECT_EQ(partition.parts[store::StepPart::kIdle], std::llround(1.5 * kMs)) << "the second rank ends first";
}

TEST(RunPartition, IsMissingWhereNoStepWasProbed) {
  RanksAtWork ranks(1);
  ranks.synchronous_step(10 * kMs);
  ranks.records().front().probes_on = false;
  const MeasuredSteps measured = ranks.measured();
  EXPECT_FALSE(run_partition(ranks.records(), measured, step_rate(measured, false).value(), false));
}

TEST(Apportion, SumsToTheTotalAndKeepsProportions) {
  std::array<double, store::kStepPartCount> weights{};
  weights.fill(1);
  const store::StepPartition parts = apportion(weights, 1003);
  EXPECT_EQ(parts.total_ns(), 1003);
  for (const std::int64_t part_ns : parts.ns) EXPECT_NEAR(static_cast<double>(part_ns), 1003.0 / store::kStepPartCount, 1);
  EXPECT_EQ(apportion({}, 17)[store::StepPart::kIdle], 17);
  weights.fill(1e17);
  EXPECT_EQ(apportion(weights, 1'000'000'000'000'000'007).total_ns(), 1'000'000'000'000'000'007);
}

}  // namespace
}  // namespace ddbench::analyzer
