#include "core/text/number_ranges.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "core/text/number.h"

namespace ddbench {
namespace {

std::optional<NumberRange> range_from(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = number_from<std::int64_t>(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : number_from<std::int64_t>(text.substr(dash + 1));
  if (!first || !last || *first > *last) return std::nullopt;
  return NumberRange{*first, *last};
}

}  // namespace

NumberRanges::NumberRanges(std::vector<NumberRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const NumberRange& a, const NumberRange& b) { return a.first < b.first; });
  for (const NumberRange& range : ranges) {
    if (!ranges_.empty() && range.first - 1 <= ranges_.back().last) {
      ranges_.back().last = std::max(ranges_.back().last, range.last);
    } else {
      ranges_.push_back(range);
    }
  }
}

bool NumberRanges::contains(std::int64_t number) const noexcept {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), number,
                                      [](std::int64_t value, const NumberRange& range) { return value < range.first; });
  return after != ranges_.begin() && number <= std::prev(after)->last;
}

std::optional<NumberRanges> number_ranges_from(std::string_view text, NumberRange valid) {
  std::vector<NumberRange> ranges;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const auto range = range_from(text.substr(begin, comma - begin));
    if (!range || range->first < valid.first || range->last > valid.last) return std::nullopt;
    ranges.push_back(*range);
    begin = comma + 1;
  }
  return NumberRanges(std::move(ranges));
}

}  // namespace ddbench
