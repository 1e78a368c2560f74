#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "harness/launch/control/messages.h"

namespace ddbench::launch {

/// The launcher's key-value map, in which the ranks leave their addresses for each other. Answers go out
/// through `reply`. What each rank can make it hold is bounded.
class Rendezvous {
 public:
  static constexpr std::size_t kMostKeyBytes = 256;
  static constexpr std::size_t kMostKeysOfRank = 4096;
  static constexpr std::size_t kMostBytesOfRank = std::size_t{4} << 20;  ///< of keys and values
  static constexpr std::size_t kMostWaitsOfRank = 1024;

  using Reply = std::function<void(int rank, const KvValue&)>;
  explicit Rendezvous(Reply reply) : reply_(std::move(reply)) {}

  /// A key that is there keeps counting for whoever set it first. Throws Error{kRunFailed} beyond the bounds.
  void set(int rank, const KvSet& entry) {
    const auto known = values_.find(checked(entry.key));
    const int owner = known != values_.end() ? known->second.owner : rank;
    Use use = used_[owner];
    if (known != values_.end()) {
      use.bytes -= known->second.bytes.size();
    } else {
      ++use.keys;
      use.bytes += entry.key.size();
    }
    use.bytes += entry.value.size();
    if (use.keys > kMostKeysOfRank || use.bytes > kMostBytesOfRank) {
      throw Error(ErrorCode::kRunFailed,
                  fmt::format("it stores {} keys with {} bytes in the rendezvous (at most {} and {})",
                              use.keys, use.bytes, kMostKeysOfRank, kMostBytesOfRank),
                  0, "rendezvous");
    }
    used_[owner] = use;
    values_[entry.key] = {owner, entry.value};
    const auto waiting = waiting_.extract(entry.key);
    if (waiting.empty()) return;
    for (const auto& [waiter, id] : waiting.mapped()) {
      --used_[waiter].waits;
      reply_(waiter, KvValue{id, entry.value});
    }
  }

  /// Answers now, or when the key is set. Throws Error{kRunFailed} beyond the bounds.
  void get(int rank, const KvGet& request) {
    if (const auto value = values_.find(checked(request.key)); value != values_.end()) {
      return reply_(rank, KvValue{request.id, value->second.bytes});
    }
    Use& use = used_[rank];
    if (use.waits == kMostWaitsOfRank) {
      throw Error(ErrorCode::kRunFailed,
                  fmt::format("it waits for more than {} keys of the rendezvous", kMostWaitsOfRank), 0,
                  "rendezvous");
    }
    ++use.waits;
    waiting_[request.key].emplace_back(rank, request.id);
  }

 private:
  struct Value {
    int owner = 0;
    collective::Bytes bytes;
  };
  /// What a rank takes of the launcher's memory.
  struct Use {
    std::size_t keys = 0;
    std::size_t bytes = 0;
    std::size_t waits = 0;
  };

  static const std::string& checked(const std::string& key) {
    if (key.size() <= kMostKeyBytes) return key;
    throw Error(ErrorCode::kRunFailed,
                fmt::format("a key of {} bytes is too long for the rendezvous (at most {})", key.size(),
                            kMostKeyBytes),
                0, "rendezvous");
  }

  Reply reply_;
  std::map<std::string, Value> values_;
  std::map<std::string, std::vector<std::pair<int, std::uint64_t>>> waiting_;  // rank and request by key
  std::map<int, Use> used_;                                                    // by rank
};

}  // namespace ddbench::launch
