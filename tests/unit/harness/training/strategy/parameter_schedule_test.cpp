// When ZeRO-3 gathers and reduces buckets, and that no two of them lie in the same memory at one moment.
#include "harness/training/strategy/parameter_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "harness/model/architectures/registry.h"
#include "harness/training/optimizer/parameters.h"

namespace ddbench::ddp {
namespace {

using Gather = ParameterSchedule::Gather;

/// Three layers of one parameter each; backward begins with the loss.
const workload::ParameterUses kThreeLayers{3, {{0}, {1}, {2}, {}, {2}, {1}, {0}}};
const std::vector<Bucket> kThreeBuckets{{2}, {1}, {0}};
const std::vector<std::int64_t> kSizes{64, 128, 256};

TEST(ParameterSchedule, GathersTwiceAndOneAhead) {
  const ParameterSchedule schedule = schedule_parameters(kThreeLayers, kThreeBuckets, kSizes, true);
  ASSERT_EQ(schedule.gathers.size(), 6U);
  const std::vector<std::size_t> buckets{2, 1, 0, 0, 1, 2};
  const std::vector<std::size_t> first{0, 1, 2, 4, 5, 6};
  const std::vector<std::size_t> begins{0, 0, 1, 3, 4, 5};  // bucket 0 again: not before its values have gone
  for (std::size_t i = 0; i < 6; ++i) {
    const Gather& gather = schedule.gathers[i];
    EXPECT_EQ(gather.bucket, buckets[i]) << i;
    EXPECT_EQ(gather.first, first[i]) << i;
    EXPECT_EQ(gather.begins, begins[i]) << i;
    EXPECT_EQ(gather.last, gather.first) << i;
  }
  EXPECT_EQ(schedule.value_bytes, 256 + 128) << "the two largest neighbours";
  EXPECT_EQ(schedule.gradient_bytes, 256 + 128);
}

TEST(ParameterSchedule, WithoutOverlapThereIsOneBucketAtATime) {
  const ParameterSchedule schedule = schedule_parameters(kThreeLayers, kThreeBuckets, kSizes, false);
  for (const Gather& gather : schedule.gathers) EXPECT_EQ(gather.begins, gather.first);
  EXPECT_EQ(schedule.value_bytes, 256);
  EXPECT_EQ(schedule.gradient_bytes, 256);
}

TEST(ParameterSchedule, AParameterThatTwoLayersReadStaysInBetween) {
  const workload::ParameterUses tied{3, {{0}, {1}, {0}, {}, {0}, {1}, {0}}};
  const ParameterSchedule schedule = schedule_parameters(tied, {{1}, {0}}, std::vector<std::int64_t>{64, 128}, true);
  ASSERT_EQ(schedule.gathers.size(), 4U);
  EXPECT_EQ(schedule.gathers[0].last, 2U);
  EXPECT_EQ(schedule.gathers[2].bucket, 1U);
  EXPECT_EQ(schedule.gathers[2].begins, 3U) << "the same memory cannot hold it twice";
  EXPECT_EQ(schedule.value_bytes, 64 + 128);
}

class EachWorkload : public testing::TestWithParam<std::tuple<const char*, bool, bool>> {};

TEST_P(EachWorkload, NothingThatIsNeededLiesInOneMemory) {
  const auto& [name, recompute, overlap] = GetParam();
  workload::WorkloadOptions options;
  if (recompute && name != std::string("mlp")) options["recompute"] = "blocks";  // mlp has no blocks
  const auto workload = workload::make_workload(name, options);
  const std::vector<std::int64_t> parameter_bytes = ddp::bytes_of(workload->parameters());
  const workload::ParameterUses uses = workload->parameter_uses();
  const std::vector<Bucket> plan = plan_buckets(parameter_bytes, 1 << 20, 4 << 20);
  std::vector<std::int64_t> sizes;
  for (const Bucket& bucket : plan) {
    sizes.push_back(0);
    for (const std::size_t parameter : bucket) sizes.back() += parameter_bytes[parameter];
  }
  const ParameterSchedule schedule = schedule_parameters(uses, plan, sizes, overlap);
  EXPECT_EQ(schedule.gathers.size(), 2 * plan.size()) << "every parameter is read forward and backward";
  std::size_t begins = 0;
  for (const Gather& one : schedule.gathers) {
    EXPECT_GE(one.begins, begins) << "they are handed in in this order";
    begins = one.begins;
    EXPECT_LE(one.begins, one.first);
    for (const Gather& other : schedule.gathers) {
      const bool at_once = &one != &other && one.begins <= other.last && other.begins <= one.last;
      const bool same_place = one.offset < other.offset + sizes[other.bucket] && other.offset < one.offset + sizes[one.bucket];
      EXPECT_FALSE(at_once && same_place) << one.bucket << ", " << other.bucket;
    }
  }
  for (std::size_t bucket = 0; bucket < plan.size(); ++bucket) {  // all of its gradients are written in its stretch
    EXPECT_GE(schedule.gradients[bucket].first, uses.forward);
    EXPECT_LE(schedule.gradients[bucket].offset + sizes[bucket], schedule.gradient_bytes);
    for (std::size_t moment = uses.forward; moment < uses.moments.size(); ++moment) {
      for (const std::size_t parameter : uses.moments[moment]) {
        if (std::find(plan[bucket].begin(), plan[bucket].end(), parameter) == plan[bucket].end()) continue;
        EXPECT_LE(schedule.gradients[bucket].first, moment);
        EXPECT_GE(schedule.gradients[bucket].last, moment);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EachWorkload,
                         testing::Combine(testing::Values("mlp", "gpt2-nano", "resnet18", "bert-base"), testing::Bool(),
                                          testing::Bool()),
                         [](const auto& instance) {
                           std::string name = std::get<0>(instance.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name + (std::get<1>(instance.param) ? "_recompute" : "") +
                                  (std::get<2>(instance.param) ? "" : "_alone");
                         });

}  // namespace
}  // namespace ddbench::ddp
