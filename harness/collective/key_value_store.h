#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"

namespace ddbench::collective {

using Bytes = std::vector<char>;

/// The piece for `index` in the value of key `owner` of `count`: see KeyValueStore::get_column.
inline Bytes piece_for(const Bytes& value, int owner, int count, int index) {
  // `index` comes from a rank, which may be anybody.
  if (index < 0 || index >= count)
    throw Error(ErrorCode::kRunFailed, "a rank asks the rendezvous for the addresses of a place that is not among its peers", 0, "rendezvous");
  if (owner == index) return {};
  const auto others = static_cast<std::size_t>(count - 1);
  if (count < 2 || value.size() % others != 0)
    throw Error(ErrorCode::kRunFailed, "a rank's list of addresses cannot be cut into one for each of its peers", 0, "rendezvous");
  const auto size = static_cast<std::ptrdiff_t>(value.size() / others);
  const auto begin = value.begin() + size * (index > owner ? index - 1 : index);
  return {begin, begin + size};
}

/// Where the ranks of a run leave addresses for each other before they can talk (rendezvous). Thread-safe.
class KeyValueStore {
 public:
  virtual ~KeyValueStore() = default;
  virtual void set(const std::string& key, const Bytes& value) = 0;
  /// Waits until the key is set. Throws Error{kRunFailed} naming the key after `timeout`, or at once when the
  /// run is aborted.
  virtual Bytes get(const std::string& key, std::chrono::milliseconds timeout) = 0;
  /// The values of `prefix`0 to `prefix`(count-1), once all are set. As get.
  virtual std::vector<Bytes> get_all(const std::string& prefix, int count, std::chrono::milliseconds timeout) {
    std::vector<Bytes> values;
    for (int i = 0; i < count; ++i) values.push_back(get(prefix + std::to_string(i), timeout));
    return values;
  }
  /// Of values that hold a piece of one size for each of the other keys, in their order: the pieces for `index`, by key; that of
  /// its own is empty. A value that cannot be cut so is an Error{kRunFailed}.
  virtual std::vector<Bytes> get_column(const std::string& prefix, int count, int index, std::chrono::milliseconds timeout) {
    std::vector<Bytes> values = get_all(prefix, count, timeout);
    for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = piece_for(values[static_cast<std::size_t>(i)], i, count, index);
    return values;
  }

};

}  // namespace ddbench::collective
