#include "harness/training/data/sampler.h"

#include <numeric>
#include <utility>

#include "harness/model/random.h"

namespace ddbench::ddp {

DistributedSampler::DistributedSampler(std::int64_t size, int world_size, int rank, std::uint64_t seed)
    : world_size_(world_size), rank_(rank), seed_(seed), permutation_(static_cast<std::size_t>(size)) {
  set_epoch(0);
}

void DistributedSampler::set_epoch(std::int64_t epoch) {
  constexpr std::uint64_t kShuffleStream = 0x7368'7566;
  workload::Random random(seed_ + static_cast<std::uint64_t>(epoch), kShuffleStream);
  std::iota(permutation_.begin(), permutation_.end(), 0U);
  for (std::size_t left = permutation_.size(); left > 1; --left) {
    std::swap(permutation_[left - 1], permutation_[random.below(left)]);
  }
}

std::int64_t DistributedSampler::index(std::int64_t position) const noexcept {
  const auto global = static_cast<std::size_t>(position * world_size_ + rank_);
  return permutation_[global % permutation_.size()];
}

}  // namespace ddbench::ddp
