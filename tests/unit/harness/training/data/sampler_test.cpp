#include "harness/training/data/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace ddbench::ddp {
namespace {

using Indices = std::vector<std::int64_t>;

Indices taken(const DistributedSampler& sampler, std::int64_t begin, std::int64_t count) {
  Indices indices;
  for (std::int64_t i = begin; i < begin + count; ++i) indices.push_back(sampler.index(i));
  return indices;
}

Indices permutation(std::int64_t size, std::uint64_t seed, std::int64_t epoch) {
  DistributedSampler alone(size, 1, 0, seed);
  alone.set_epoch(epoch);
  return taken(alone, 0, size);
}

TEST(DistributedSampler, PermutesEveryEpochAnew) {
  Indices all(1000);
  std::iota(all.begin(), all.end(), 0);
  std::set<Indices> seen;
  for (int epoch = 0; epoch < 20; ++epoch) {
    Indices indices = permutation(1000, 1, epoch);
    EXPECT_TRUE(seen.insert(indices).second) << "epoch " << epoch << " repeats another";
    std::sort(indices.begin(), indices.end());
    EXPECT_EQ(indices, all);
  }
  EXPECT_EQ(permutation(1000, 1, 3), permutation(1000, 1, 3));
  EXPECT_EQ(permutation(1000, 4, 0), permutation(1000, 1, 3)) << "the shuffle is seeded with seed + epoch";
}

TEST(DistributedSampler, IsTheSameOnEveryPlatform) {
  EXPECT_EQ(permutation(10, 1, 0), (Indices{2, 9, 5, 1, 4, 6, 3, 0, 7, 8}));
  EXPECT_EQ(permutation(10, 1, 1), (Indices{5, 6, 8, 2, 7, 9, 4, 0, 1, 3}));
}

TEST(DistributedSampler, EveryPermutationOfFourIsAboutEquallyFrequent) {
  std::map<Indices, int> counts;
  constexpr int kDraws = 24'000;
  for (int epoch = 0; epoch < kDraws; ++epoch) ++counts[permutation(4, 9, epoch)];
  EXPECT_EQ(counts.size(), 24U);
  for (const auto& [indices, count] : counts) EXPECT_NEAR(count, kDraws / 24, 160);  // 5 standard deviations
}

// torch/utils/data/distributed.py, __iter__ with shuffle=True and drop_last=False, by the letter.
Indices by_the_letter(std::int64_t size, int world, int rank, std::uint64_t seed, std::int64_t epoch) {
  Indices indices = permutation(size, seed, epoch);
  const std::int64_t num_samples = (size + world - 1) / world;
  const std::int64_t total_size = num_samples * world;
  const std::int64_t padding = total_size - size;
  const Indices once = indices;
  while (static_cast<std::int64_t>(indices.size()) < size + padding) {
    for (const std::int64_t index : once) {
      if (static_cast<std::int64_t>(indices.size()) < total_size) indices.push_back(index);
    }
  }
  Indices mine;
  for (std::int64_t i = rank; i < total_size; i += world)
    mine.push_back(indices[static_cast<std::size_t>(i)]);
  return mine;
}

TEST(DistributedSampler, SharesAsTorchDoes) {
  for (const std::int64_t size : {1, 2, 3, 7, 16, 100}) {
    for (const int world : {1, 2, 3, 5, 16}) {
      for (int rank = 0; rank < world; ++rank) {
        DistributedSampler sampler(size, world, rank, 5);
        sampler.set_epoch(2);
        const Indices expected = by_the_letter(size, world, rank, 5, 2);
        ASSERT_EQ(taken(sampler, 0, (size + world - 1) / world), expected)
            << size << " samples, rank " << rank << " of " << world;
      }
    }
  }
}

TEST(DistributedSampler, BatchesOfAStepAreTheSameGlobalBatchForEveryWorldSize) {
  constexpr std::int64_t kGlobalBatch = 48, kSize = 1000;
  for (std::int64_t step = 0; step < kSize / kGlobalBatch; ++step) {
    const Indices whole = permutation(kSize, 1, 0);
    std::multiset<std::int64_t> expected(whole.begin() + step * kGlobalBatch,
                                         whole.begin() + (step + 1) * kGlobalBatch);
    for (const int world : {1, 2, 3, 4, 6, 8, 16}) {
      std::multiset<std::int64_t> together;
      for (int rank = 0; rank < world; ++rank) {
        const std::int64_t batch = kGlobalBatch / world;
        for (const std::int64_t index :
             taken(DistributedSampler(kSize, world, rank, 1), step * batch, batch)) {
          together.insert(index);
        }
      }
      ASSERT_EQ(together, expected) << "step " << step << ", world size " << world;
    }
  }
}

}  // namespace
}  // namespace ddbench::ddp
