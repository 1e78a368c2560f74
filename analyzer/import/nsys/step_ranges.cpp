#include "analyzer/import/nsys/step_ranges.h"

#include <algorithm>
#include <set>

#include "core/text/number.h"

namespace ddbench::imports {
namespace {

constexpr std::string_view kDefaultName = "ProfilerStep#";
constexpr std::string_view kSeparators = " \t_-#:=./[(";
constexpr std::string_view kClosing = "])";

}  // namespace

/// The digits after the name; empty for the name alone; nothing for another range.
std::optional<std::string_view> StepRanges::number_in(std::string_view text) const {
  const std::string_view name = name_.empty() ? kDefaultName : std::string_view(name_);
  if (!text.starts_with(name)) return std::nullopt;
  text.remove_prefix(name.size());
  text.remove_prefix(std::min(text.find_first_not_of(kSeparators), text.size()));
  while (!text.empty() && kClosing.find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  if (text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  return text;
}

bool StepRanges::marks_step(std::string_view text) const {
  return number_in(text).has_value();
}

void StepRanges::add(const TraceEvent& event) {
  const auto digits = number_in(event.name);
  ranges_.push_back({event.begin_ns, event.end_ns, event.thread,
                     digits && !digits->empty() ? number_from<std::uint64_t>(*digits) : std::nullopt});
}

std::size_t StepRanges::add_to(RankBuilder& builder) const {
  std::vector<Range> ranges = ranges_;
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
  });
  std::int64_t end_ns = 0;
  bool is_first = true;
  std::erase_if(ranges, [&](const Range& range) {
    if (!is_first && range.begin_ns < end_ns) return true;
    is_first = false;
    end_ns = range.end_ns;
    return false;
  });
  std::set<std::uint64_t> numbers;
  const bool are_numbered = std::all_of(ranges.begin(), ranges.end(), [&](const Range& range) {
    return range.number && numbers.insert(*range.number).second;
  });
  std::uint64_t order = 0;
  for (const Range& range : ranges) {
    TraceEvent event;
    event.begin_ns = range.begin_ns;
    event.end_ns = range.end_ns;
    event.thread = range.thread;
    builder.add_step(event, are_numbered ? *range.number : order++);
  }
  return ranges.size();
}

}  // namespace ddbench::imports
