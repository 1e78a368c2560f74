#pragma once

#include <gloo/rendezvous/store.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/text/number.h"
#include "harness/collective/key_value_store.h"

namespace ddbench::collective::gloo_backend {

/// The ranks of a mesh whose Gloo leaves a list of addresses, one for each peer, under the number of its rank.
struct AddressLists {
  int rank = 0;
  int world_size = 0;
};

/// Gloo's rendezvous over our key-value store, under keys of its own. What was waited for is kept, so that
/// each key travels once. With `lists` a rank is sent only what it reads of its peers' lists, the address that each has for it,
/// and those of all peers at once: whole lists of all ranks for all ranks would grow with the cube of their number.
class RendezvousStore final : public ::gloo::rendezvous::Store {
 public:
  RendezvousStore(KeyValueStore& store, std::string prefix, std::chrono::milliseconds timeout,
                  std::optional<AddressLists> lists = std::nullopt)
      : store_(store), prefix_(std::move(prefix)), timeout_(timeout), lists_(lists) {}

  void set(const std::string& key, const std::vector<char>& data) override {
    store_.set(prefix_ + key, data);
  }
  std::vector<char> get(const std::string& key) override {
    if (const auto peer = peer_of(key)) return list_of(*peer);
    wait({key});
    return seen_.at(key);
  }
  void wait(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) {
      if (peer_of(key)) {
        gather();
        continue;
      }
      if (!seen_.contains(key)) seen_.emplace(key, store_.get(prefix_ + key, timeout_));
    }
  }
  /// Gloo's own timeout belongs to a connection, not to the rendezvous.
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) override { wait(keys); }

 private:
  /// The peer whose list of addresses a key names; nothing for any other key.
  std::optional<int> peer_of(const std::string& key) const {
    const auto peer = number_from<int>(key);
    const bool is_list = lists_ && peer && *peer >= 0 && *peer < lists_->world_size && *peer != lists_->rank;
    return is_list ? peer : std::nullopt;
  }
  void gather() {
    if (column_.empty()) column_ = store_.get_column(prefix_, lists_->world_size, lists_->rank, timeout_);
  }
  /// As long as the peer's list, with zeros where Gloo does not look.
  std::vector<char> list_of(int peer) {
    gather();
    const std::vector<char>& own = column_.at(static_cast<std::size_t>(peer));
    std::vector<char> list(own.size() * static_cast<std::size_t>(lists_->world_size - 1));
    const int place = lists_->rank > peer ? lists_->rank - 1 : lists_->rank;
    std::copy(own.begin(), own.end(), list.begin() + static_cast<std::ptrdiff_t>(own.size()) * place);
    return list;
  }

  KeyValueStore& store_;
  const std::string prefix_;
  const std::chrono::milliseconds timeout_;
  const std::optional<AddressLists> lists_;
  std::vector<Bytes> column_;  ///< by peer; empty: not yet there
  std::map<std::string, std::vector<char>> seen_;
};

}  // namespace ddbench::collective::gloo_backend
