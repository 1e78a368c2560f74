#include "analyzer/diagnose/hang/hang.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "analyzer/attribution/communicators.h"
#include "core/text/number.h"

namespace ddbench::analyzer {
namespace {

/// What a rank's operations say of its place, found once: other ranks ask for it again and again.
struct Place {
  /// Of the collectives of a group, the highest numbers; -1: none.
  struct Reached {
    std::int64_t enqueued = -1;
    std::int64_t completed = -1;
  };

  explicit Place(const FlightDump& dump) {
    for (const RecordedOperation& operation : dump.operations) {
      if (oldest_pending == nullptr && !operation.is_completed) oldest_pending = &operation;
      Reached& group = reached[operation.group];
      if (operation.is_p2p) continue;
      group.enqueued = std::max(group.enqueued, operation.sequence);
      if (operation.is_completed) group.completed = std::max(group.completed, operation.sequence);
    }
  }

  const RecordedOperation* oldest_pending = nullptr;
  std::map<std::string, Reached> reached;  ///< by group, of those with any operation
};

class Search {
 public:
  explicit Search(const std::vector<FlightDump>& dumps) {
    for (const FlightDump& dump : dumps) {
      dumps_[dump.rank] = &dump;
      places_.insert_or_assign(dump.rank, Place(dump));
      hang_.world_size = std::max(hang_.world_size, dump.rank + 1);
      for (const auto& [name, group] : dump.groups) {
        if (!group.ranks.empty()) hang_.world_size = std::max(hang_.world_size, group.ranks.back() + 1);
      }
    }
  }

  Hang search() {
    for (const auto& [rank, dump] : dumps_) look_at(rank);
    for (const auto& [rank, first] : awaited_) {
      if (waits_.contains(rank) || stuck_.contains(rank) || within_.contains(rank)) continue;
      hang_.missing.push_back({rank, why_awaited(rank, first)});
    }
    for (const auto& [rank, why] : stuck_) hang_.missing.push_back({rank, why});
    std::sort(hang_.missing.begin(), hang_.missing.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
    if (hang_.missing.empty()) hang_.entered_by_all.assign(entered_.begin(), entered_.end());
    return std::move(hang_);
  }

 private:
  using Operation = RecordedOperation;

  const Operation* oldest_pending(int rank) const {
    const auto found = places_.find(rank);
    return found == places_.end() ? nullptr : found->second.oldest_pending;
  }

  void look_at(int rank) {
    const Operation* const operation = oldest_pending(rank);
    if (operation == nullptr) return;
    ++hang_.waiting;
    operation->is_p2p ? look_at_peers(rank, *operation) : look_at_collective(rank, *operation);
  }

  void wait_for(int rank, int other, const Operation& operation) {
    waits_.insert(rank);
    awaited_.try_emplace(other, rank, &operation);
  }

  void look_at_collective(int rank, const Operation& operation) {
    const std::vector<int> members = members_of(rank, operation.group);
    const auto add_those = [&](const auto& is_one) {
      bool any = false;
      for (const int other : members) {
        if (other == rank || !is_one(other)) continue;
        wait_for(rank, other, operation);
        any = true;
      }
      return any;
    };
    if (add_those([&](int other) { return !has_enqueued(other, rank, operation); })) return;
    const auto done = std::find_if(members.begin(), members.end(), [&](int other) {
      return other != rank && has_completed(other, rank, operation);
    });
    if (done != members.end()) {
      stuck_[rank] = fmt::format("is still in {}, which rank {} has completed", in_words(rank, operation), *done);
      return;
    }
    const auto is_elsewhere = [&](int other) {
      const Operation* const theirs = oldest_pending(other);
      return theirs != nullptr && (theirs->group != operation.group || theirs->sequence != operation.sequence);
    };
    if (add_those(is_elsewhere)) return;
    within_.insert(rank);
    entered_.insert(fmt::format("{}, ranks {}", in_words(rank, operation), ranks_in_words(members)));
  }

  void look_at_peers(int rank, const Operation& operation) {
    const Batch& batch = batch_of(rank);
    if (batch.empty()) return;
    bool all_came = true;
    for (const auto& [peer, with_it] : batch) {
      const Operation* const theirs = oldest_pending(peer);
      if (theirs != nullptr && theirs->is_p2p && theirs->group == operation.group && batch_of(peer).contains(rank)) continue;
      wait_for(rank, peer, *with_it);
      all_came = false;
    }
    if (!all_came) return;
    within_.insert(rank);
    std::vector<int> ranks = {rank};
    for (const auto& [peer, with_it] : batch) ranks.push_back(peer);
    std::sort(ranks.begin(), ranks.end());
    entered_.insert(ranks.size() == 2 ? fmt::format("{}, ranks {} and {}", in_words(rank, operation), ranks[0], ranks[1])
                                      : fmt::format("{}, ranks {}", in_words(rank, operation), ranks_in_words(ranks)));
  }

  /// Whom a rank's oldest pending send or receive, and those of its batch, which have its number, are with: all are under way at once.
  /// With the first operation of each.
  using Batch = std::map<int, const Operation*>;
  const Batch& batch_of(int rank) {
    const auto [known, is_new] = batches_.try_emplace(rank);
    const Operation* const oldest = oldest_pending(rank);
    if (!is_new || oldest == nullptr || !oldest->is_p2p) return known->second;
    const std::vector<int> members = members_of(rank, oldest->group);
    for (const Operation& operation : dumps_.at(rank)->operations) {
      if (!operation.is_p2p || operation.is_completed || operation.group != oldest->group || operation.sequence != oldest->sequence) continue;
      if (const std::optional<int> peer = peer_of(operation, members)) known->second.try_emplace(*peer, &operation);
    }
    return known->second;
  }

  /// "nccl:recv 2<-3", "nccl:send 3->2": the other one, a place in the group. Nothing of "nccl:coalesced".
  static std::optional<int> peer_of(const Operation& operation, const std::vector<int>& members) {
    const std::size_t arrow = std::min(operation.name.find("->"), operation.name.find("<-"));
    if (arrow == std::string::npos) return std::nullopt;
    const auto place = leading_number<std::size_t>(std::string_view(operation.name).substr(arrow + 2));
    return place && place->value < members.size() ? std::optional(members[place->value]) : std::nullopt;
  }

  /// As stated in the rank's dump, else the ranks whose dumps have operations of the group.
  std::vector<int> members_of(int rank, const std::string& group) const {
    const auto known = dumps_.at(rank)->groups.find(group);
    if (known != dumps_.at(rank)->groups.end() && !known->second.ranks.empty()) return known->second.ranks;
    std::vector<int> members;
    for (const auto& [other, dump] : dumps_) {
      if (dump->numbers.contains(group) || places_.at(other).reached.contains(group)) members.push_back(other);
    }
    return members;
  }

  Place::Reached reached(int rank, const std::string& group) const {
    const auto& groups = places_.at(rank).reached;
    const auto found = groups.find(group);
    return found == groups.end() ? Place::Reached{} : found->second;
  }

  /// Ranks use the same numbers for their groups if they have equally many in the same order.
  const GroupProgress* progress_of(int rank, int like, const std::string& group) const {
    const FlightDump& dump = *dumps_.at(rank);
    auto number = dump.numbers.find(group);
    if (number == dump.numbers.end()) {
      const FlightDump& other = *dumps_.at(like);
      const bool alike = std::equal(dump.progress.begin(), dump.progress.end(), other.progress.begin(), other.progress.end(),
                                    [](const auto& a, const auto& b) { return a.first == b.first; });
      number = other.numbers.find(group);
      if (!alike || number == other.numbers.end()) return nullptr;
    }
    const auto found = dump.progress.find(number->second);
    return found == dump.progress.end() ? nullptr : &found->second;
  }

  bool has_enqueued(int rank, int like, const Operation& operation) const {
    if (!dumps_.contains(rank)) return false;
    if (reached(rank, operation.group).enqueued >= operation.sequence) return true;
    const GroupProgress* const progress = progress_of(rank, like, operation.group);
    return progress != nullptr && progress->enqueued >= operation.sequence;
  }

  bool has_completed(int rank, int like, const Operation& operation) const {
    if (!dumps_.contains(rank)) return false;
    const GroupProgress* const progress = progress_of(rank, like, operation.group);
    if (progress != nullptr) return progress->completed >= operation.sequence;
    return reached(rank, operation.group).completed >= operation.sequence;
  }

  std::string in_words(int rank, const Operation& operation) const {
    const auto group = dumps_.at(rank)->groups.find(operation.group);
    const std::string description = group == dumps_.at(rank)->groups.end() || group->second.description.empty()
                                        ? std::string()
                                        : fmt::format(" ({})", group->second.description);
    return fmt::format("{} #{} of group {}{}", operation.name, operation.sequence, operation.group, description);
  }

  std::string why_awaited(int rank, const std::pair<int, const Operation*>& first) const {
    const std::string what = fmt::format("{}, in which rank {} waits", in_words(first.first, *first.second), first.first);
    return dumps_.contains(rank) ? fmt::format("did not come to {}", what)
                                 : fmt::format("left no dump, and is awaited in {}", what);
  }

  std::map<int, const FlightDump*> dumps_;
  std::map<int, Place> places_;
  std::map<int, Batch> batches_;
  std::set<int> waits_;
  std::set<int> within_;  ///< an operation that all have entered
  std::map<int, std::string> stuck_;
  std::map<int, std::pair<int, const Operation*>> awaited_;  ///< by awaited rank: a waiting rank, its call
  std::set<std::string> entered_;
  Hang hang_;
};

}  // namespace

Hang find_hang(const std::vector<FlightDump>& dumps) {
  return Search(dumps).search();
}

}  // namespace ddbench::analyzer
