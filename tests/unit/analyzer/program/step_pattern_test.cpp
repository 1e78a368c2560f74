// Steps of training loops that are known, found by what they communicate.
#include "analyzer/program/step_pattern.h"

#include <gtest/gtest.h>

#include <random>

namespace ddbench::analyzer {
namespace {

constexpr std::uint32_t kReduceCall = 0;
constexpr std::uint32_t kBroadcastCall = 1;

/// A program's collectives; time passes only where the test states it.
class Program {
 public:
  Program& compute(std::int64_t time_ns) {
    now_ns_ += time_ns;
    return *this;
  }
  Program& collective(std::uint32_t function, std::uint64_t bytes, std::int64_t time_ns = 100) {
    now_ns_ += 10;
    made_.push_back({function, bytes, now_ns_, now_ns_ + time_ns});
    now_ns_ += time_ns;
    return *this;
  }
  /// Forward, then backward with a collective a bucket.
  Program& step(const std::vector<std::uint64_t>& buckets) {
    begins_.push_back(made_.size());
    compute(1000);
    for (const std::uint64_t bytes : buckets) compute(50).collective(kReduceCall, bytes);
    return *this;
  }
  Program& start_as_ddp_does() {
    return collective(kBroadcastCall, 16).collective(kBroadcastCall, 144).collective(kBroadcastCall, 5000);
  }
  StepPattern found() const { return find_step_pattern(made_); }
  const std::vector<std::size_t>& begins() const { return begins_; }

 private:
  std::vector<ObservedCollective> made_;
  std::vector<std::size_t> begins_;
  std::int64_t now_ns_ = 0;
};

TEST(StepPattern, DdpWhoseFirstIterationHasOtherBuckets) {
  Program program;
  program.start_as_ddp_does().compute(800).collective(kReduceCall, 3000).collective(kBroadcastCall, 28);
  for (int i = 0; i < 20; ++i) program.step({1000, 2000});
  EXPECT_EQ(program.found().period, 2u);
  EXPECT_EQ(program.found().firsts, program.begins());
  EXPECT_GT(program.found().confidence, 0.95);
}

TEST(StepPattern, OneBucketAStep) {
  Program program;
  program.start_as_ddp_does();
  for (int i = 0; i < 10; ++i) program.step({4000});
  EXPECT_EQ(program.found().period, 1u);
  EXPECT_EQ(program.found().firsts, program.begins());
}

TEST(StepPattern, EqualBucketsAreDistinguishedFromStepsByTheirPauses) {
  for (const std::size_t buckets : {2u, 3u, 4u, 6u}) {
    Program program;
    program.start_as_ddp_does();
    for (int i = 0; i < 12; ++i) program.step(std::vector<std::uint64_t>(buckets, 25));
    EXPECT_EQ(program.found().period, buckets);
    EXPECT_EQ(program.found().firsts, program.begins()) << buckets;
  }
}

TEST(StepPattern, EvaluationsBetweenStepsBelongToNone) {
  for (const int every : {3, 7, 10}) {
    Program program;
    program.start_as_ddp_does();
    for (int i = 1; i <= 42; ++i) {
      program.step({1000, 2000, 500});
      if (i % every == 0) program.compute(5000).collective(kReduceCall, 4);
    }
    EXPECT_EQ(program.found().period, 3u) << every;
    EXPECT_EQ(program.found().firsts, program.begins()) << every;
  }
}

TEST(StepPattern, NoiseOfStepTimesDoesNotMatter) {
  std::mt19937 random(1);
  std::uniform_int_distribution<std::int64_t> noise(0, 400);
  Program program;
  for (int i = 0; i < 50; ++i) program.compute(noise(random)).step({7, 8, 9, 9, 9});
  EXPECT_EQ(program.found().period, 5u);
  EXPECT_EQ(program.found().firsts, program.begins());
}

TEST(StepPattern, ShortPausesMayDifferByAnyFactorInStepsOfOneLength) {
  std::mt19937 random(1);
  Program program;
  for (int i = 0; i < 30; ++i) {
    // Between a reduction that takes long and a barrier: 10 to 1,000 ns of a step of about 20,000.
    program.compute(std::int64_t{1} << random() % 10).collective(kBroadcastCall, 0).collective(kReduceCall, 5000, 20'000);
  }
  EXPECT_EQ(program.found().period, 2u);
  EXPECT_GT(program.found().confidence, 0.9);
}

TEST(StepPattern, ABusyMachineMakesNoOtherSteps) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    std::mt19937 random(seed);
    // Equal buckets, and such with another one at their end, as DDP's are.
    std::vector<std::uint64_t> buckets(1 + random() % 4, 25);
    if (random() % 2 == 0) buckets.push_back(7);
    Program program;
    program.start_as_ddp_does();
    const int steps = 16 + static_cast<int>(random() % 40);
    for (int i = 0; i < steps; ++i) {
      // One step in seven comes late, by up to twenty times its pause.
      if (random() % 7 == 0) program.compute(static_cast<std::int64_t>(random() % 20'000));
      program.step(buckets);
    }
    EXPECT_EQ(program.found().firsts, program.begins())
        << "seed " << seed << " buckets " << testing::PrintToString(buckets) << " steps " << steps;
  }
}

TEST(StepPattern, ACheckpointEverySoManyStepsMakesNoLongerSteps) {
  for (const int every : {8, 9, 12, 25}) {
    Program program;
    program.start_as_ddp_does();
    for (int i = 1; i <= 12 * every; ++i) {
      program.step({1000, 2000});
      if (i % every == 0) program.compute(60'000);
    }
    EXPECT_EQ(program.found().firsts, program.begins()) << every;
  }
}

TEST(StepPattern, WhatDoesNotRepeatIsNoTraining) {
  std::mt19937 random(2);
  Program program;
  for (std::uint64_t i = 0; i < 300; ++i)
    program.compute(100 + random() % 1000).collective(kReduceCall, i * i);
  EXPECT_EQ(program.found().period, 0u);
  EXPECT_TRUE(program.found().firsts.empty());
}

TEST(StepPattern, TwoRepetitionsAreTooFew) {
  EXPECT_EQ(Program().step({1, 2}).step({1, 2}).found().period, 0u);
  EXPECT_EQ(Program().found().period, 0u);
  EXPECT_EQ(Program().step({1}).found().period, 0u);
}

TEST(StepPattern, RandomLoopsAreFound) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::uint64_t> buckets(1 + random() % 9);
    for (std::uint64_t& bytes : buckets) bytes = 1 + random() % 4;
    Program program;
    for (auto i = random() % 6; i > 0; --i) program.compute(300).collective(kBroadcastCall, random() % 100);
    const int steps = 8 + static_cast<int>(random() % 40);
    const int every = 4 + static_cast<int>(random() % 10);
    for (int i = 1; i <= steps; ++i) {
      program.step(buckets);
      if (i % every == 0) program.compute(random() % 3000).collective(kReduceCall, 77);
    }
    EXPECT_EQ(program.found().firsts, program.begins())
        << "seed " << seed << " buckets " << testing::PrintToString(buckets) << " every " << every;
  }
}

TEST(StepPattern, LongProgramsAreSearchedAtTheirBeginAndCoveredToTheEnd) {
  Program program;
  for (int i = 0; i < 6000; ++i) program.step({1000, 2000, 3000});
  EXPECT_EQ(program.found().firsts.size(), 6000u);
}

}  // namespace
}  // namespace ddbench::analyzer
