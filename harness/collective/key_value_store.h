#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace ddbench::collective {

using Bytes = std::vector<char>;

/// Where the ranks of a run leave addresses for each other before they can talk (rendezvous). Thread-safe.
class KeyValueStore {
 public:
  virtual ~KeyValueStore() = default;
  virtual void set(const std::string& key, const Bytes& value) = 0;
  /// Waits until the key is set. Throws Error{kRunFailed} naming the key after `timeout`, or at once when the
  /// run is aborted.
  virtual Bytes get(const std::string& key, std::chrono::milliseconds timeout) = 0;
};

}  // namespace ddbench::collective
