#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "harness/model/data/datasets.h"

namespace ddbench::workload {
namespace {

using Values = std::vector<float>;

std::pair<Values, int> sample(const Dataset& data, std::int64_t index) {
  Values values(static_cast<std::size_t>(data.shape().features));
  int label = -1;
  data.read(index, {.numbers = values, .labels = {&label, 1}});
  return {values, label};
}

TEST(Synthetic, IsTheSameForTheSameSeedAndAnotherForAnother) {
  const auto a = make_synthetic({.seed = 5}), b = make_synthetic({.seed = 5}),
             c = make_synthetic({.seed = 6});
  EXPECT_EQ(a->size(), 60'000);
  EXPECT_EQ(a->shape(), SampleShape{.features = 784});
  EXPECT_EQ(a->classes(), 10);
  for (const std::int64_t index : {0, 1, 59'999}) {
    EXPECT_EQ(sample(*a, index), sample(*b, index));
    EXPECT_NE(sample(*a, index).first, sample(*c, index).first);
  }
}

TEST(Synthetic, ClassesAreAboutEquallyFrequent) {
  const auto data = make_synthetic({.size = 20'000, .features = 2});
  std::vector<int> counts(10);
  for (std::int64_t i = 0; i < data->size(); ++i)
    ++counts.at(static_cast<std::size_t>(sample(*data, i).second));
  for (const int count : counts) EXPECT_NEAR(count, 2000, 5 * std::sqrt(2000));
}

TEST(Synthetic, SamplesOfAClassLieAroundItsPrototypeAndNearerThanOthers) {
  const auto data = make_synthetic({.size = 4000});
  std::vector<std::vector<double>> sums(10, std::vector<double>(784));
  std::vector<int> counts(10);
  for (std::int64_t i = 0; i < 3000; ++i) {
    const auto [values, label] = sample(*data, i);
    ++counts[label];
    for (std::size_t j = 0; j < values.size(); ++j) sums[label][j] += values[j];
  }
  int right = 0;
  for (std::int64_t i = 3000; i < 4000; ++i) {  // nearest mean of the samples above
    const auto [values, label] = sample(*data, i);
    std::size_t nearest = 0;
    double least = INFINITY;
    for (std::size_t c = 0; c < 10; ++c) {
      double distance = 0;
      for (std::size_t j = 0; j < values.size(); ++j)
        distance += std::pow(values[j] - sums[c][j] / counts[c], 2);
      if (distance < least) {
        least = distance;
        nearest = c;
      }
    }
    right += static_cast<int>(nearest) == label ? 1 : 0;
  }
  EXPECT_GT(right, 850);  // can be learnt
  EXPECT_LT(right, 990);  // is not trivial
}

TEST(Synthetic, SamplesDiffer) {
  const auto data = make_synthetic({.features = 16});
  std::set<Values> seen;
  for (std::int64_t i = 0; i < 1000; ++i) seen.insert(sample(*data, i).first);
  EXPECT_GT(seen.size(), 990U);
}

}  // namespace
}  // namespace ddbench::workload
