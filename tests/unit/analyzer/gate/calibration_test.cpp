#include <gtest/gtest.h>

#include "simulated_runs.h"

namespace ddbench::test {
namespace {

// The benchmark bench_gate prints the same for more modes and shapes. Seeds are fixed: these counts never
// vary.
constexpr int kComparisons = 400;
constexpr unsigned kSeed = 20261121;

const Simulate kPairs = [](const SimulatedNoise& noise, double slowdown, Generator& generator) {
  return simulate_pairs(noise, 10, slowdown, generator);
};
const Simulate kNights = [](const SimulatedNoise& noise, double slowdown, Generator& generator) {
  return simulate_nights(noise, 12, 10, slowdown, generator);
};

class EveryShape : public testing::TestWithParam<NoiseShape> {};

TEST_P(EveryShape, FailsAtMostOneInAHundredEqualSides) {
  EXPECT_LE(count_regressions(kPairs, {GetParam()}, 0, kComparisons, kSeed), kComparisons / 100);
  EXPECT_LE(count_regressions(kNights, {GetParam()}, 0, kComparisons, kSeed), kComparisons / 100);
}

INSTANTIATE_TEST_SUITE_P(Noise, EveryShape, testing::ValuesIn(noise_shapes()),
                         [](const auto& test) { return "shape_" + std::to_string(test.index); });

TEST(Power, SeesFivePercentThroughTwoPercentOfNoise) {
  const SimulatedNoise noise{noise_shapes().front()};
  EXPECT_GE(count_regressions(kPairs, noise, 0.05, kComparisons, kSeed), kComparisons * 95 / 100);
  EXPECT_GE(count_regressions(kNights, noise, 0.05, kComparisons, kSeed), kComparisons * 95 / 100);
}

}  // namespace
}  // namespace ddbench::test
