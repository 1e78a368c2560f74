#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "fuzz_targets.h"

/// Inputs that are lists of actions, in a form that libFuzzer changes well: parts between separators, so that what is inserted or
/// lost in one leaves the others as they are.
namespace ddbench::fuzz {

/// Between the actions of targets whose actions have any bytes (ASCII's record separator).
inline constexpr char kRecordSeparator = '\x1e';

inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// The number that a text begins with; 0 where there is none, or a larger one than fits.
inline std::int64_t number_in(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Values one after the other, for inputs that are mostly numbers. Behind the end all is 0.
class ByteCursor {
 public:
  explicit ByteCursor(Bytes bytes) : bytes_(bytes) {}

  bool at_end() const noexcept { return bytes_.empty(); }
  template <typename Value>
  Value take() {
    Value value{};
    fill(value);
    return value;
  }
  /// The bytes of a trivially copyable record.
  template <typename Record>
  void fill(Record& record) {
    const std::size_t count = std::min(sizeof record, bytes_.size());
    std::memcpy(static_cast<void*>(&record), bytes_.data(), count);
    bytes_ = bytes_.subspan(count);
  }
  std::string_view text(std::size_t most) {
    const Bytes taken = bytes_.first(std::min(most, bytes_.size()));
    bytes_ = bytes_.subspan(taken.size());
    return text_of(taken);
  }

 private:
  Bytes bytes_;
};

}  // namespace ddbench::fuzz
