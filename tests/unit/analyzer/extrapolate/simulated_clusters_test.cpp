// Predictions over clusters of a known law, with noise: as close as the peers that
// tests/bench/predict/back_test.py has, and intervals that hold the truth.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "analyzer/extrapolate/size_law.h"

namespace ddbench::analyzer {
namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : bits_(seed) {}
  /// Standard distributions differ between libraries; these do not.
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(bits_() >> 11) * 0x1p-53;
  }
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform(0, 1);
    return sum;
  }
  template <typename T>
  const T& one_of(const std::vector<T>& values) {
    return values[bits_() % values.size()];
  }

 private:
  std::mt19937_64 bits_;
};

/// Seconds of a step: compute, bytes of rings in nodes and between them, messages, and a loader that all GPUs
/// share.
struct Cluster {
  double compute = 0, inner = 0, outer = 0, message = 0, tree = 0, shared = 0;

  double step(const ClusterShape& shape) const {
    const double g = shape.gpus_per_node;
    const double k = shape.nodes;
    return compute + inner * (g - 1) / g + outer * (k - 1) / k + message * (g * k - 1) + tree * std::log2(k) +
           shared * (g * k - 1);
  }
};

Cluster drawn(Random& random) {
  Cluster cluster;
  cluster.compute = 0.1;
  cluster.inner = 0.1 * random.uniform(0, 0.1);
  cluster.outer = 0.1 * random.uniform(0, 0.4);
  cluster.message = random.uniform(0, 1) < 0.3 ? 0.1 * random.uniform(0, 0.0005) : 0;
  cluster.tree = random.uniform(0, 1) < 0.3 ? 0.1 * random.uniform(0, 0.03) : 0;
  cluster.shared = random.uniform(0, 1) < 0.1 ? 0.1 * random.uniform(0, 0.004) : 0;
  return cluster;
}

struct Curve {
  std::vector<ClusterShape> known;
  ClusterShape asked;
};

/// Powers of two and others, few sizes and many, with and without sizes of one node.
const std::vector<Curve> kCurves = {
    {{{1, 1}, {1, 8}, {2, 8}}, {4, 8}},
    {{{1, 1}, {1, 2}, {1, 4}, {1, 8}, {2, 8}}, {4, 8}},
    {{{1, 8}, {2, 8}, {4, 8}}, {8, 8}},
    {{{1, 4}, {2, 4}, {3, 4}, {6, 4}}, {12, 4}},
    {{{1, 1}, {1, 4}, {2, 4}, {5, 4}}, {9, 4}},
    {{{2, 8}, {4, 8}}, {8, 8}},
    {{{1, 1}, {2, 1}, {3, 1}, {4, 1}}, {7, 1}},
    {{{1, 1}, {1, 2}, {1, 3}}, {1, 6}},
    {{{1, 1}, {1, 2}}, {1, 4}},
    {{{16, 8}, {24, 8}, {48, 8}}, {96, 8}},
    {{{1, 8}, {2, 8}, {4, 8}, {8, 8}, {16, 8}}, {64, 8}},
};

/// Log errors of the prediction and of its peers: the last rate, and the line in (k-1)/k.
struct Errors {
  std::vector<double> law, keeps, line, mean;
  int held = 0;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

double percentile90(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() * 9 / 10];
}

void try_one(const Cluster& cluster, const Curve& curve, double noise, Random& random, Errors& errors) {
  std::vector<SizeRate> sizes;
  for (const ClusterShape& shape : curve.known)
    sizes.push_back({shape, 1, {shape.gpus() / (cluster.step(shape) * std::exp(noise * random.normal()))}});
  const auto found = predict_size(sizes, {curve.asked, 1});
  ASSERT_TRUE(found) << found.reason();
  const double truth = curve.asked.gpus() / (cluster.step(curve.asked) * std::exp(noise * random.normal()));
  errors.law.push_back(std::abs(std::log(found->samples_per_s / truth)));
  errors.held += found->interval.low <= truth && truth <= found->interval.high;
  const auto seconds = [](const SizeRate& size) { return size.shape.gpus() / size.samples_per_s.front(); };
  const auto ring = [&](const ClusterShape& shape) {
    const double n = curve.asked.nodes > 1 ? shape.nodes : shape.gpus();
    return (n - 1) / n;
  };
  const SizeRate& last = sizes.back();
  const SizeRate& before = sizes[sizes.size() - 2];
  const double between = ring(last.shape) - ring(before.shape);
  const double line =
      seconds(last) + (seconds(last) - seconds(before)) / between * (ring(curve.asked) - ring(last.shape));
  const auto error = [&](double of_peer) { return std::abs(std::log(curve.asked.gpus() / of_peer / truth)); };
  errors.keeps.push_back(error(seconds(last)));
  errors.line.push_back(error(line));
  errors.mean.push_back(error((seconds(last) + line) / 2));
}

TEST(SimulatedClusters, PredictionsAreCloseAndIntervalsHoldTheTruth) {
  for (const double noise : {0.0, 0.003, 0.01, 0.03}) {
    Random random(20);
    Errors errors;
    for (int i = 0; i < 4400; ++i) {
      const Cluster cluster = drawn(random);
      try_one(cluster, random.one_of(kCurves), noise, random, errors);
    }
    SCOPED_TRACE(testing::Message() << "noise " << noise << ": median " << median(errors.law) << ", peers "
                                    << median(errors.keeps) << ", " << median(errors.line) << ", "
                                    << median(errors.mean) << "; 90% " << percentile90(errors.law)
                                    << ", peers " << percentile90(errors.keeps) << ", "
                                    << percentile90(errors.line) << ", " << percentile90(errors.mean)
                                    << "; held " << errors.held);
    EXPECT_GE(errors.held, 4400 * (noise > 0.01 ? 0.88 : 0.95));
    if (noise > 0.01)
      continue;  // one run of a size does not show its noise: no law predicts better than the last rate
    EXPECT_LE(median(errors.law), 0.02);
    EXPECT_LE(percentile90(errors.law), 0.07);
    EXPECT_LE(median(errors.law), median(errors.keeps));
    EXPECT_LE(median(errors.law), median(errors.mean));
    EXPECT_LE(percentile90(errors.law), percentile90(errors.mean));
    // The line knows that most of these clusters are rings.
    EXPECT_LE(median(errors.law), median(errors.line) + 0.005);
  }
}

/// The true throughput, of sizes that three runs each measured. In the next and in a measured size.
TEST(SimulatedClusters, IntervalsHoldTheNoiseOfTheRunsThatLawsGoThrough) {
  for (const bool next : {true, false}) {
    Random random(21);
    int held = 0;
    constexpr int kTrials = 2000;
    for (int i = 0; i < kTrials; ++i) {
      const Cluster cluster = drawn(random);
      const Curve& curve = random.one_of(kCurves);
      std::vector<SizeRate> sizes;
      for (const ClusterShape& shape : curve.known) {
        SizeRate& size = sizes.emplace_back(SizeRate{shape, 1, {}});
        for (int run = 0; run < 3; ++run)
          size.samples_per_s.push_back(shape.gpus() / (cluster.step(shape) * std::exp(0.05 * random.normal())));
      }
      const ClusterShape asked = next ? curve.asked : curve.known.back();
      const auto found = predict_size(sizes, {asked, 1});
      ASSERT_TRUE(found) << found.reason();
      const double truth = asked.gpus() / cluster.step(asked);
      held += found->interval.low <= truth && truth <= found->interval.high;
    }
    EXPECT_GE(held, 0.95 * kTrials) << next;
  }
}

}  // namespace
}  // namespace ddbench::analyzer
