#include "harness/training/optimizer/bucket_plan.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "harness/model/architectures/registry.h"

namespace ddbench::ddp {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

std::vector<std::int64_t> bytes_of(const std::vector<std::int64_t>& parameter_bytes,
                                   const std::vector<Bucket>& plan) {
  std::vector<std::int64_t> sums;
  for (const Bucket& bucket : plan) {
    sums.push_back(
        std::accumulate(bucket.begin(), bucket.end(), std::int64_t{0},
                        [&](std::int64_t sum, std::size_t i) { return sum + parameter_bytes[i]; }));
  }
  return sums;
}

TEST(BucketPlan, DefaultMlpIsTwoBuckets) {
  std::vector<std::int64_t> bytes;
  for (const auto& spec : workload::make_workload("mlp", {})->parameters()) bytes.push_back(spec.bytes());
  const std::vector<Bucket> plan = plan_buckets(bytes, kMiB, 25 * kMiB);
  EXPECT_EQ(plan, (std::vector<Bucket>{{5, 4, 3, 2}, {1, 0}}));
  EXPECT_EQ(bytes_of(bytes, plan), (std::vector<std::int64_t>{1'071'144, 1'607'680}));
}

TEST(BucketPlan, ClosesWhenTheCapIsReachedOrExceeded) {
  EXPECT_EQ(plan_buckets(std::vector<std::int64_t>{5, 5, 5, 5, 5}, 5, 10),
            (std::vector<Bucket>{{4}, {3, 2}, {1, 0}}));
  EXPECT_EQ(plan_buckets(std::vector<std::int64_t>{5, 5, 5, 5, 5}, 6, 11),
            (std::vector<Bucket>{{4, 3}, {2, 1, 0}}));
  EXPECT_EQ(plan_buckets(std::vector<std::int64_t>{1, 100, 1}, 10, 10), (std::vector<Bucket>{{2, 1}, {0}}));
}

TEST(BucketPlan, OneBucketForAHugeCapAndOneAParameterForATinyOne) {
  const std::vector<std::int64_t> bytes(7, 100);
  EXPECT_EQ(plan_buckets(bytes, kMiB, kMiB).size(), 1U);
  EXPECT_EQ(plan_buckets(bytes, 1, 1).size(), 7U);
  EXPECT_TRUE(plan_buckets({}, 1, 1).empty());
}

TEST(BucketPlan, PropertiesOfRandomPlans) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::int64_t> bytes(1 + random() % 40);
    for (std::int64_t& size : bytes) size = 1 + static_cast<std::int64_t>(random() % 1000);
    const auto first_cap = static_cast<std::int64_t>(1 + random() % 1500);
    const auto cap = static_cast<std::int64_t>(1 + random() % 3000);
    const std::vector<Bucket> plan = plan_buckets(bytes, first_cap, cap);

    Bucket order;
    for (std::size_t i = 0; i < plan.size(); ++i) {
      const std::int64_t limit = i == 0 ? first_cap : cap;
      const std::int64_t sum = bytes_of(bytes, {plan[i]})[0];
      ASSERT_TRUE(sum >= limit || i + 1 == plan.size());
      ASSERT_LT(sum - bytes[plan[i].back()], limit);  // it was open before its last gradient
      order.insert(order.end(), plan[i].begin(), plan[i].end());
    }
    Bucket reversed(bytes.size());
    std::iota(reversed.rbegin(), reversed.rend(), std::size_t{0});
    ASSERT_EQ(order, reversed);
  }
}

}  // namespace
}  // namespace ddbench::ddp
