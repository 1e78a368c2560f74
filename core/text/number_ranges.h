#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ddbench {

/// Whole numbers from `first` to `last`, both included.
struct NumberRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  friend bool operator==(const NumberRange&, const NumberRange&) = default;
};

/// A set of whole numbers, as people write it: "0-3,8".
class NumberRanges {
 public:
  NumberRanges() = default;
  /// In any order; they may overlap. Each has first <= last.
  explicit NumberRanges(std::vector<NumberRange> ranges);

  bool contains(std::int64_t number) const noexcept;
  /// Ascending, neither overlapping nor adjacent.
  const std::vector<NumberRange>& ranges() const noexcept { return ranges_; }

 private:
  std::vector<NumberRange> ranges_;
};

/// The set that `text` lists. Nothing unless it is a list of numbers and ranges without blanks, each range ascending, and
/// all within `valid`.
std::optional<NumberRanges> number_ranges_from(std::string_view text, NumberRange valid);

}  // namespace ddbench
