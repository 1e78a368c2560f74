#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/measured.h"
#include "core/program/loader_epoch.h"
#include "core/program/rank_gpu.h"

namespace ddbench::analyzer {

/// What a rank of a program reported of its training data and its GPU (probes/python/ddbench_inputs.py).
struct RankInputs {
  std::vector<LoaderEpoch> epochs;  ///< in the order of the reports; of a pass there may be several, with more and more indices
  std::optional<RankGpu> gpu;
};
/// From the names that the rank's process interned.
RankInputs rank_inputs(const std::vector<std::string>& names);

using RankGroups = std::vector<std::vector<int>>;  ///< of two ranks or more each, ascending

/// Ranks whose first pass has the same order of samples and the same values in all tensors of its first batch that can be compared.
/// With orders that differ, data differ. The same order with other values in some tensors shows nothing (shards of their own, random
/// changes of samples), and neither do some equal tensors without an order (keys of shards): missing, with the reason. Missing for one rank, and where ranks reported nothing. Pure.
Measured<RankGroups> ranks_with_same_data(const std::vector<RankInputs>& ranks);

/// Ranks whose sampler shuffles, but gave the same order in the first two passes through one data set, of which the first came to its end,
/// or in the first three; by whether it is a DistributedSampler.
struct RepeatedOrder {
  std::vector<int> distributed;  ///< their program does not call set_epoch()
  std::vector<int> shuffled;     ///< it seeds each pass alike
};
RepeatedOrder ranks_with_repeated_order(const std::vector<RankInputs>& ranks);

/// Ranks that use one GPU, or one part of it under MIG, with its bus id.
std::vector<std::pair<std::string, std::vector<int>>> ranks_that_share_gpus(const std::vector<RankInputs>& ranks);

}  // namespace ddbench::analyzer
