#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text/number.h"
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

  using Reply = std::function<void(int rank, const Message&)>;  ///< a KvValue or KvParts
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
    if (known == values_.end()) count_for_gatherings(entry.key);
    const auto waiting = waiting_.extract(entry.key);
    if (waiting.empty()) return;
    for (const auto& [waiter, id] : waiting.mapped()) {
      --used_[waiter].waits;
      reply_(waiter, KvValue{id, entry.value});
    }
  }

  /// Answers now, or when all of the keys are set. Throws Error{kRunFailed} beyond the bounds, and for values that cannot be cut.
  void gather(int rank, const KvGather& request) {
    checked(request.prefix);
    Gathering& gathering = gatherings_[{request.prefix, request.count}];
    if (gathering.waiting.empty()) gathering.missing = missing(request);
    if (gathering.missing == 0) {
      gatherings_.erase({request.prefix, request.count});
      return reply_(rank, gathered(request));
    }
    wait(rank);
    gathering.waiting.emplace_back(rank, request);
  }

  /// Answers now, or when the key is set. Throws Error{kRunFailed} beyond the bounds.
  void get(int rank, const KvGet& request) {
    if (const auto value = values_.find(checked(request.key)); value != values_.end()) {
      return reply_(rank, KvValue{request.id, value->second.bytes});
    }
    wait(rank);
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

  /// Ranks that wait for all keys of a prefix.
  struct Gathering {
    std::uint32_t missing = 0;
    std::vector<std::pair<int, KvGather>> waiting;
  };

  void wait(int rank) {
    Use& use = used_[rank];
    if (use.waits == kMostWaitsOfRank) {
      throw Error(ErrorCode::kRunFailed,
                  fmt::format("it waits for more than {} keys of the rendezvous", kMostWaitsOfRank), 0,
                  "rendezvous");
    }
    ++use.waits;
  }

  std::uint32_t missing(const KvGather& request) const {
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < request.count; ++i) count += values_.contains(request.prefix + std::to_string(i)) ? 0 : 1;
    return count;
  }

  KvParts gathered(const KvGather& request) const {
    KvParts parts{request.id, {}};
    parts.parts.reserve(request.count);
    for (std::uint32_t i = 0; i < request.count; ++i) {
      const collective::Bytes& value = values_.at(request.prefix + std::to_string(i)).bytes;
      parts.parts.push_back(request.index < 0 ? value
                                              : collective::piece_for(value, static_cast<int>(i), static_cast<int>(request.count),
                                                                      request.index));
    }
    return parts;
  }

  /// A key that was not there before: who waits for it as one of many?
  void count_for_gatherings(const std::string& key) {
    for (auto each = gatherings_.begin(); each != gatherings_.end();) {
      const auto& [prefix, count] = each->first;
      const auto number = key.starts_with(prefix) ? number_from<std::uint32_t>(std::string_view(key).substr(prefix.size())) : std::nullopt;
      const bool counts = number && *number < count && key == prefix + std::to_string(*number);
      if (!counts || --each->second.missing > 0) {
        ++each;
        continue;
      }
      const auto waiting = std::move(each->second.waiting);
      each = gatherings_.erase(each);
      for (const auto& [rank, request] : waiting) {
        --used_[rank].waits;
        reply_(rank, gathered(request));
      }
    }
  }

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
  std::map<std::pair<std::string, std::uint32_t>, Gathering> gatherings_;      // by prefix and number of keys
  std::map<int, Use> used_;                                                    // by rank
};

}  // namespace ddbench::launch
