#pragma once

#include <cstdint>
#include <vector>

namespace ddbench::ddp {

/// torch.utils.data.DistributedSampler(shuffle=True): in each epoch all ranks permute the data set alike, the
/// permutation is repeated from its start until the ranks share it evenly, and rank r takes its positions r,
/// r + W, r + 2W, ... So the ranks' k-th batches of b samples together are positions [kbW, (k+1)bW): the same
/// samples for every world size W with the same global batch bW. The permutation of an epoch is a
/// Fisher-Yates shuffle by SplitMix64 seeded with seed + epoch, as PyTorch seeds its own.
class DistributedSampler {
 public:
  /// `size` of the data set, 1 to 2^32 - 1. Starts in epoch 0.
  DistributedSampler(std::int64_t size, int world_size, int rank, std::uint64_t seed);

  void set_epoch(std::int64_t epoch);
  /// The index in the data set of this rank's sample at `position` >= 0; past its share of an epoch, size / W
  /// rounded up, it goes on from the start of the permutation.
  std::int64_t index(std::int64_t position) const noexcept;

 private:
  int world_size_;
  int rank_;
  std::uint64_t seed_;
  std::vector<std::uint32_t> permutation_;
};

}  // namespace ddbench::ddp
