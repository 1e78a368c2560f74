#include "analyzer/finalize/cpu_wait.h"

#include <gtest/gtest.h>

#include <random>

namespace ddbench::analyzer {
namespace {

using store::StepPart;

/// 100 of compute, 60 of communication of which 20 are behind compute, 10 host and 30 idle.
PartitionedStep example_step() {
  PartitionedStep step;
  step.partition[StepPart::kBackward] = 100;
  step.partition[StepPart::kExposedTransfer] = 25;
  step.partition[StepPart::kExposedPeerWait] = 15;
  step.partition[StepPart::kHost] = 10;
  step.partition[StepPart::kIdle] = 30;
  step.communication_ns = 60;
  step.overlap_ns = 20;
  return step;
}

TEST(BookCpuWait, TakesTheExposedShareOfACommunicationThreadsDelayFromTransferFirst) {
  PartitionedStep step = example_step();
  book_cpu_wait({.communication_ns = 45}, step);
  EXPECT_EQ(step.partition[StepPart::kCpuWait], 30) << "40 of 60 are exposed";
  EXPECT_EQ(step.partition[StepPart::kExposedTransfer], 0);
  EXPECT_EQ(step.partition[StepPart::kExposedPeerWait], 10);
  EXPECT_EQ(step.partition[StepPart::kIdle], 30);
}

TEST(BookCpuWait, TakesTheTrainingThreadsDelayFromIdleThenFromHostInItsShare) {
  PartitionedStep step = example_step();
  book_cpu_wait({.main_ns = 20}, step);
  EXPECT_EQ(step.partition[StepPart::kIdle], 10);
  EXPECT_EQ(step.partition[StepPart::kCpuWait], 20);
  step = example_step();
  book_cpu_wait({.main_ns = 30 + 55}, step);
  EXPECT_EQ(step.partition[StepPart::kIdle], 0);
  EXPECT_EQ(step.partition[StepPart::kHost], 5) << "55 lie over 100 of compute and 10 of host";
  EXPECT_EQ(step.partition[StepPart::kBackward], 100) << "compute comes first";
}

TEST(BookCpuWait, NeverBooksMoreThanTheDelayNorThanThePartsHave) {
  std::mt19937 random(7);
  const auto below = [&](std::int64_t bound) { return static_cast<std::int64_t>(random() % bound); };
  for (int trial = 0; trial < 2000; ++trial) {
    PartitionedStep step;
    for (std::int64_t& part_ns : step.partition.ns) part_ns = below(3) == 0 ? 0 : below(1'000'000'000);
    step.partition[StepPart::kCpuWait] = 0;
    step.overlap_ns = below(step.partition.compute_ns() + 1);
    step.communication_ns = step.partition.exposed_communication_ns() + step.overlap_ns;
    const CpuWait wait{below(4'000'000'000), below(4'000'000'000)};
    const store::StepPartition before = step.partition;
    book_cpu_wait(wait, step);
    EXPECT_EQ(step.partition.total_ns(), before.total_ns());
    EXPECT_LE(step.partition[StepPart::kCpuWait], wait.main_ns + wait.communication_ns);
    for (std::size_t part = 0; part < before.ns.size(); ++part) {
      EXPECT_GE(step.partition.ns[part], 0);
      if (part != static_cast<std::size_t>(StepPart::kCpuWait)) {
        EXPECT_LE(step.partition.ns[part], before.ns[part]);
      }
    }
    EXPECT_EQ(step.partition.compute_ns(), before.compute_ns());
  }
}

}  // namespace
}  // namespace ddbench::analyzer
