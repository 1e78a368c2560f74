#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text/number.h"
#include "harness/launch/control/key_value_bytes.h"
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
  /// What rank `rank` has set cannot be used: what about it is wrong. Called before those who asked for it are answered.
  using Blame = std::function<void(int rank, const std::string& what)>;
  Rendezvous(Reply reply, Blame blame) : reply_(std::move(reply)), blame_(std::move(blame)) {}

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
    if (known != values_.end()) complete_.reset();  // it may be one of them
    values_[entry.key] = {owner, entry.value};
    if (known == values_.end()) count_for_gatherings(entry.key);
    const auto waiting = waiting_.extract(entry.key);
    if (waiting.empty()) return;
    for (const auto& [waiter, id] : waiting.mapped()) {
      --used_[waiter].waits;
      reply_(waiter, KvValue{id, entry.value});
    }
  }

  /// Answers now, or when all of the keys are set; with an error, if a value cannot be cut: then who set it is blamed. Throws
  /// Error{kRunFailed} beyond the bounds, and for an index that is none.
  void gather(int rank, const KvGather& request) {
    checked(request.prefix);
    if (request.index >= 0 && static_cast<std::uint32_t>(request.index) >= request.count) {
      throw Error(ErrorCode::kRunFailed,
                  fmt::format("it asks the rendezvous for the addresses of place {} among {}", request.index, request.count), 0,
                  "rendezvous");
    }
    if (is_complete(request)) return reply_(rank, gathered(request));
    Gathering& gathering = gatherings_[{request.prefix, request.count}];
    if (gathering.waiting.empty()) gathering.missing = missing(request);
    if (gathering.missing == 0) {
      gatherings_.erase({request.prefix, request.count});
      complete(request.prefix, request.count);
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

  /// The values that were gathered last: the other ranks ask for the same.
  struct Complete {
    std::string prefix;
    std::vector<const Value*> values;            // by number
    std::shared_ptr<const std::string> encoded;  // of all of them; null: nobody has asked for it yet
  };

  bool is_complete(const KvGather& request) const {
    return complete_ && complete_->prefix == request.prefix && complete_->values.size() == request.count;
  }

  void complete(const std::string& prefix, std::uint32_t count) {
    complete_.emplace(Complete{prefix, {}, nullptr});
    complete_->values.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) complete_->values.push_back(&values_.at(prefix + std::to_string(i)));
  }

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

  /// From `complete_`, which is that of the request.
  KvParts gathered(const KvGather& request) {
    if (request.index < 0) return {request.id, {}, {}, all_encoded()};
    KvParts parts{request.id, {}, {}, {}};
    parts.parts.reserve(request.count);
    for (int i = 0; i < static_cast<int>(request.count); ++i) {
      const Value& value = *complete_->values[static_cast<std::size_t>(i)];
      try {
        parts.parts.push_back(collective::piece_for(value.bytes, i, static_cast<int>(request.count), request.index));
      } catch (const Error&) {
        const std::string what = fmt::format("its {} bytes in the rendezvous (key \"{}{}\") cannot be cut into one address for each of {} peers",
                                             value.bytes.size(), request.prefix, i, request.count - 1);
        blame_(value.owner, what);
        return {request.id, {}, fmt::format("rank {}: {}", value.owner, what), {}};
      }
    }
    return parts;
  }

  std::shared_ptr<const std::string> all_encoded() {
    if (complete_->encoded) return complete_->encoded;
    std::vector<collective::Bytes> all;
    all.reserve(complete_->values.size());
    for (const Value* value : complete_->values) all.push_back(value->bytes);
    return complete_->encoded = std::make_shared<const std::string>(encode_parts(all));
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
      complete(prefix, count);
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
  Blame blame_;
  std::map<std::string, Value> values_;
  std::map<std::string, std::vector<std::pair<int, std::uint64_t>>> waiting_;  // rank and request by key
  std::map<std::pair<std::string, std::uint32_t>, Gathering> gatherings_;      // by prefix and number of keys
  std::optional<Complete> complete_;
  std::map<int, Use> used_;                                                    // by rank
};

}  // namespace ddbench::launch
