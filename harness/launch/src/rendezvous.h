#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "messages.h"

namespace ddbench::launch {

/// The launcher's key-value map, in which the ranks leave their addresses for each other. Answers go out
/// through `reply`.
class Rendezvous {
 public:
  using Reply = std::function<void(int rank, const KvValue&)>;
  explicit Rendezvous(Reply reply) : reply_(std::move(reply)) {}

  void set(const KvSet& entry) {
    values_[entry.key] = entry.value;
    const auto waiting = waiting_.extract(entry.key);
    if (waiting.empty()) return;
    for (const auto& [rank, id] : waiting.mapped()) reply_(rank, KvValue{id, entry.value});
  }

  /// Answers now, or when the key is set.
  void get(int rank, const KvGet& request) {
    if (const auto value = values_.find(request.key); value != values_.end()) {
      reply_(rank, KvValue{request.id, value->second});
    } else {
      waiting_[request.key].emplace_back(rank, request.id);
    }
  }

 private:
  Reply reply_;
  std::map<std::string, collective::Bytes> values_;
  std::map<std::string, std::vector<std::pair<int, std::uint64_t>>> waiting_;  // rank and request by key
};

}  // namespace ddbench::launch
