#include "analyzer/program/rank_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

namespace ddbench::analyzer {
namespace {

constexpr std::int64_t kFewestIndices = 8;  // fewer may be equal by chance

/// The report of the pass `epoch` with `indices` indices; without `indices`, the one with the most. Null if there is none.
const LoaderEpoch* report_of(const RankInputs& rank, std::int64_t epoch, std::optional<std::int64_t> indices = {}) {
  const LoaderEpoch* found = nullptr;
  for (const LoaderEpoch& each : rank.epochs) {
    if (each.epoch != epoch || (indices && each.indices != *indices)) continue;
    if (found == nullptr || each.indices > found->indices) found = &each;
  }
  return found;
}

/// The most indices of a pass that all ranks have a hash of.
std::int64_t common_indices(const std::vector<RankInputs>& ranks, std::int64_t epoch) {
  std::int64_t most = 0;
  for (const LoaderEpoch& each : ranks.front().epochs) {
    if (each.epoch != epoch || each.hash.empty()) continue;
    const bool all = std::all_of(ranks.begin(), ranks.end(), [&](const RankInputs& rank) {
      const LoaderEpoch* const other = report_of(rank, epoch, each.indices);
      return other != nullptr && !other->hash.empty();
    });
    if (all) most = std::max(most, each.indices);
  }
  return most;
}

enum class Agreement : std::uint8_t { kNotComparable, kNone, kPart, kAll };

/// Of the tensors of the first batches. One that can be compared on one rank alone has other values on the other.
Agreement compare_values(const LoaderEpoch& a, const LoaderEpoch& b) {
  const auto value = [](const LoaderEpoch& of, std::size_t i) { return i < of.values.size() ? of.values[i] : std::string("-"); };
  std::size_t compared = 0;
  std::size_t equal = 0;
  for (std::size_t i = 0; i < std::max(a.values.size(), b.values.size()); ++i) {
    if (value(a, i) == "-" && value(b, i) == "-") continue;
    ++compared;
    equal += value(a, i) == value(b, i) ? 1 : 0;
  }
  if (compared == 0) return Agreement::kNotComparable;
  if (equal == compared) return Agreement::kAll;
  return equal == 0 ? Agreement::kNone : Agreement::kPart;
}

/// Why ranks that are in no group are not known to differ. `doubts`: of pairs that may be alike, not empty.
std::string why_not_known(const std::set<Agreement>& doubts, bool by_index) {
  if (doubts.contains(Agreement::kPart)) {
    return fmt::format(
        "ranks draw {}, but only some of their batches' values are equal: shards of their own with keys or lengths alike, or random "
        "changes of samples",
        by_index ? "the same indices" : "samples without indices");
  }
  if (doubts.contains(Agreement::kNone))
    return "ranks draw the same indices, but their batches have other values: shards of their own, or random changes of samples";
  return "the values of the ranks' batches could not be compared";
}

bool same_order(const LoaderEpoch& a, const LoaderEpoch* b) {
  return b != nullptr && b->order == a.order && b->dataset == a.dataset && b->samples == a.samples && b->hash == a.hash;
}

/// The passes after the first are like it. After a first one that was broken off (a search of the learning rate, a warm-up) a program
/// may begin anew, so then two are asked for.
bool repeats(const RankInputs& rank, LoaderEpoch::Order order) {
  const bool ended = std::any_of(rank.epochs.begin(), rank.epochs.end(), [](const LoaderEpoch& each) { return each.epoch == 0 && each.ended; });
  for (const LoaderEpoch& first : rank.epochs) {
    if (first.epoch != 0 || first.order != order || first.indices < kFewestIndices || first.hash.empty() || first.dataset < 0) continue;
    if (same_order(first, report_of(rank, 1, first.indices)) && (ended || same_order(first, report_of(rank, 2, first.indices)))) return true;
  }
  return false;
}

}  // namespace

RankInputs rank_inputs(const std::vector<std::string>& names) {
  RankInputs inputs;
  for (const std::string& name : names) {
    if (auto epoch = parse_loader_epoch(name)) inputs.epochs.push_back(*std::move(epoch));
    if (auto gpu = parse_rank_gpu(name)) inputs.gpu = std::move(gpu);
  }
  return inputs;
}

Measured<RankGroups> ranks_with_same_data(const std::vector<RankInputs>& ranks) {
  using Result = Measured<RankGroups>;
  if (ranks.size() < 2) return Result::missing("one rank has all data");
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (report_of(ranks[rank], 0) == nullptr)
      return Result::missing(fmt::format("rank {} reported no training data: only batches of PyTorch's DataLoader are seen", rank));
  }
  const std::int64_t common = common_indices(ranks, 0);
  std::set<Agreement> doubts;
  std::vector<const LoaderEpoch*> firsts;  // of groups
  RankGroups groups;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const LoaderEpoch* const own = report_of(ranks[rank], 0, common > 0 ? std::optional(common) : std::nullopt);
    std::size_t group = 0;
    for (; group < groups.size(); ++group) {
      if (common > 0 && (own->hash != firsts[group]->hash || own->samples != firsts[group]->samples)) continue;
      const Agreement agreement = compare_values(*own, *firsts[group]);
      if (agreement == Agreement::kAll) break;
      if (common > 0 || agreement != Agreement::kNone) doubts.insert(agreement);
    }
    if (group == groups.size()) {
      firsts.push_back(own);
      groups.emplace_back();
    }
    groups[group].push_back(static_cast<int>(rank));
  }
  std::erase_if(groups, [](const auto& group) { return group.size() < 2; });
  if (!groups.empty() || doubts.empty()) return groups;
  return Result::missing(why_not_known(doubts, common > 0));
}

RepeatedOrder ranks_with_repeated_order(const std::vector<RankInputs>& ranks) {
  RepeatedOrder found;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (repeats(ranks[rank], LoaderEpoch::Order::kDistributed)) found.distributed.push_back(static_cast<int>(rank));
    if (repeats(ranks[rank], LoaderEpoch::Order::kShuffled)) found.shuffled.push_back(static_cast<int>(rank));
  }
  return found;
}

std::vector<std::pair<std::string, std::vector<int>>> ranks_that_share_gpus(const std::vector<RankInputs>& ranks) {
  std::map<std::string, std::pair<std::string, std::vector<int>>> users;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (!ranks[rank].gpu) continue;
    auto& [bus_id, of_gpu] = users[ranks[rank].gpu->uuid];
    bus_id = ranks[rank].gpu->bus_id;
    of_gpu.push_back(static_cast<int>(rank));
  }
  std::vector<std::pair<std::string, std::vector<int>>> shared;
  for (auto& [uuid, gpu] : users) {
    if (gpu.second.size() > 1) shared.push_back(std::move(gpu));
  }
  std::sort(shared.begin(), shared.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return shared;
}

}  // namespace ddbench::analyzer
