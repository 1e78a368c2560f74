#pragma once

#include <gloo/rendezvous/store.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "harness/collective/key_value_store.h"

namespace ddbench::collective::gloo_backend {

/// Gloo's rendezvous over our key-value store, under keys of its own. What was waited for is kept, so that
/// each key travels once.
class RendezvousStore final : public ::gloo::rendezvous::Store {
 public:
  RendezvousStore(KeyValueStore& store, std::string prefix, std::chrono::milliseconds timeout)
      : store_(store), prefix_(std::move(prefix)), timeout_(timeout) {}

  void set(const std::string& key, const std::vector<char>& data) override {
    store_.set(prefix_ + key, data);
  }
  std::vector<char> get(const std::string& key) override {
    wait({key});
    return seen_.at(key);
  }
  void wait(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) {
      if (!seen_.contains(key)) seen_.emplace(key, store_.get(prefix_ + key, timeout_));
    }
  }
  /// Gloo's own timeout belongs to a connection, not to the rendezvous.
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) override { wait(keys); }

 private:
  KeyValueStore& store_;
  const std::string prefix_;
  const std::chrono::milliseconds timeout_;
  std::map<std::string, std::vector<char>> seen_;
};

}  // namespace ddbench::collective::gloo_backend
