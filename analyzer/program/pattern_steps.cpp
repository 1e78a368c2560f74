#include "analyzer/program/pattern_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_map>

#include "analyzer/program/step_pattern.h"
#include "core/span.h"

namespace ddbench::analyzer {
namespace {

// Multiples of the medians: a step that exceeds both may contain an evaluation,
constexpr std::int64_t kLongPause = 5;
constexpr std::int64_t kLongStep = 3;
// and does where it works more often by a tenth. Steps of training do the same again and again.
constexpr std::int64_t kTenth = 10;

std::uint16_t communicator_of(const Span& span) {
  return static_cast<std::uint16_t>(span.correlation >> 48);
}

/// A kernel of NCCL without a key (point-to-point) is no collective that all ranks make.
bool is_collective(const Span& span) {
  return span.kind == SpanKind::kCommunication &&
         (span.correlation != 0 || span.lane != Lane::kDeviceCommunication);
}

/// Rank 0's collectives in the communicator that it used most, in the order in which the program made them.
std::vector<Span> main_collectives(const ProgramRank& rank) {
  std::map<std::uint16_t, std::size_t> uses;
  for (const Span& span : rank.spans) {
    if (is_collective(span)) ++uses[communicator_of(span)];
  }
  if (uses.empty()) return {};
  const auto most = std::max_element(uses.begin(), uses.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<Span> collectives;
  for (const Span& span : rank.spans) {
    if (is_collective(span) && communicator_of(span) == most->first) collectives.push_back(span);
  }
  // Host threads need not record collectives in the program's order, but their keys have that order. Kernels
  // run in that order; their keys state which function was called how often.
  const bool on_device = !collectives.empty() && collectives.front().lane == Lane::kDeviceCommunication;
  std::sort(collectives.begin(), collectives.end(), [on_device](const Span& a, const Span& b) {
    return on_device ? a.begin_ns < b.begin_ns : a.correlation < b.correlation;
  });
  return collectives;
}

std::vector<ObservedCollective> observed(const std::vector<Span>& collectives) {
  std::vector<ObservedCollective> all;
  for (const Span& span : collectives) all.push_back({span.name_id, span.bytes, span.begin_ns, span.end_ns});
  return all;
}

std::string describe(const std::vector<Span>& collectives, const std::vector<std::string>& names,
                     const StepPattern& pattern) {
  constexpr std::size_t kMostNamed = 6;
  std::string text = fmt::format("{} collective{} a step:", pattern.period, pattern.period == 1 ? "" : "s");
  for (std::size_t i = 0; i < std::min(pattern.period, kMostNamed); ++i) {
    const Span& span = collectives[pattern.firsts.front() + i];
    text += fmt::format("{} {} {} B", i == 0 ? "" : ",", names.at(span.name_id), span.bytes);
  }
  return pattern.period > kMostNamed ? text + ", ..." : text;
}

/// The ends of a rank's collectives, by correlation.
std::unordered_map<std::uint64_t, std::int64_t> ends_of(const ProgramRank& rank) {
  std::unordered_map<std::uint64_t, std::int64_t> ends;
  for (const Span& span : rank.spans) {
    if (span.kind == SpanKind::kCommunication) ends[span.correlation] = span.end_ns;
  }
  return ends;
}

/// From the end of the event before a step's first collective to the end of its last one; none if a rank did
/// not record one of them.
std::vector<std::optional<ProgramWindow>> windows_of(const ProgramRank& rank, const std::vector<Span>& collectives,
                                              const StepPattern& pattern) {
  if (rank.spans.empty()) return std::vector<std::optional<ProgramWindow>>(pattern.firsts.size());
  const auto ends = ends_of(rank);
  const auto last_end = [&](std::size_t first, std::size_t count) -> std::optional<std::int64_t> {
    std::int64_t latest = 0;
    for (std::size_t i = first; i < first + count; ++i) {
      const auto found = ends.find(collectives[i].correlation);
      if (found == ends.end()) return std::nullopt;
      latest = std::max(latest, found->second);
    }
    return latest;
  };
  std::vector<std::optional<ProgramWindow>> windows;
  for (const std::size_t first : pattern.firsts) {
    const std::size_t before = std::min(first, pattern.period);
    const auto begin = before == 0 ? std::optional(begin_of_spans(rank)) : last_end(first - before, before);
    const auto end = last_end(first, pattern.period);
    windows.push_back(begin && end && *begin < *end ? std::optional(ProgramWindow{*begin, *end}) : std::nullopt);
  }
  return windows;
}

std::int64_t median_of(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// How many of `times`, ascending, are in the window.
std::int64_t count_in(const ProgramWindow& window, const std::vector<std::int64_t>& times) {
  return std::lower_bound(times.begin(), times.end(), window.end_ns) -
         std::lower_bound(times.begin(), times.end(), window.begin_ns);
}

/// The begins of spans for which `is_one` returns true, ascending.
template <typename Predicate>
std::vector<std::int64_t> begins_of(const std::vector<Span>& spans, const Predicate& is_one) {
  std::vector<std::int64_t> begins;
  for (const Span& span : spans) {
    if (is_one(span)) begins.push_back(span.begin_ns);
  }
  std::sort(begins.begin(), begins.end());
  return begins;
}

/// By step of rank 0: whether an evaluation or a checkpoint comes before the step's first collective.
std::vector<bool> holds_more_than_a_step(const ProgramRank& rank,
                                         const std::vector<std::optional<ProgramWindow>>& windows,
                                         const std::vector<Span>& collectives, const StepPattern& pattern) {
  const auto works = begins_of(
      rank.spans, [](const Span& span) { return is_compute(span.kind) || span.kind == SpanKind::kCopy; });
  const auto opens = begins_of(rank.spans, [&](const Span& span) {
    return span.kind == SpanKind::kHost && rank.names[span.name_id] == kFileOpenedName;
  });
  std::vector<std::int64_t> pauses_ns;
  std::vector<std::int64_t> lengths_ns;
  std::vector<std::int64_t> work_counts;
  std::vector<std::int64_t> open_counts;
  for (std::size_t step = 0; step < windows.size(); ++step) {
    const ProgramWindow window = windows[step].value_or(ProgramWindow{});
    const std::int64_t pause_ns = collectives[pattern.firsts[step]].begin_ns - window.begin_ns;
    pauses_ns.push_back(windows[step] ? std::max<std::int64_t>(pause_ns, 0) : 0);
    lengths_ns.push_back(window.end_ns - window.begin_ns);
    work_counts.push_back(count_in(window, works));
    open_counts.push_back(count_in(window, opens));
  }
  const std::int64_t long_pause_ns = kLongPause * median_of(pauses_ns);
  const std::int64_t long_step_ns = kLongStep * median_of(lengths_ns);
  const std::int64_t usual_works = median_of(work_counts);
  const std::int64_t usual_opens = median_of(open_counts);
  std::vector<bool> more;
  for (std::size_t step = 0; step < windows.size(); ++step) {
    const bool is_long = pauses_ns[step] > long_pause_ns && lengths_ns[step] > long_step_ns;
    const bool evaluates = is_long && kTenth * work_counts[step] > (kTenth + 1) * usual_works;
    more.push_back(evaluates || open_counts[step] > usual_opens);
  }
  return more;
}

std::vector<ProgramWindows> whole_steps(const std::vector<ProgramRank>& ranks, const std::vector<Span>& collectives,
                                     const StepPattern& pattern) {
  std::vector<std::vector<std::optional<ProgramWindow>>> found;
  for (const ProgramRank& rank : ranks) found.push_back(windows_of(rank, collectives, pattern));
  const std::vector<bool> more = holds_more_than_a_step(ranks.front(), found.front(), collectives, pattern);
  std::vector<ProgramWindows> windows(ranks.size());
  for (std::size_t step = 0; step < pattern.firsts.size(); ++step) {
    const bool whole =
        std::all_of(found.begin(), found.end(), [&](const auto& rank) { return rank[step].has_value(); });
    if (!whole || more[step]) continue;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) windows[rank].push_back(*found[rank][step]);
  }
  return windows;
}

}  // namespace

PatternSteps steps_of_pattern(const std::vector<ProgramRank>& ranks) {
  const std::vector<Span> collectives = main_collectives(ranks.front());
  if (collectives.empty()) return {};
  const StepPattern pattern = find_step_pattern(observed(collectives));
  if (pattern.period == 0) return {};
  return {whole_steps(ranks, collectives, pattern), pattern.confidence,
          describe(collectives, ranks.front().names, pattern)};
}

std::int64_t begin_of_spans(const ProgramRank& rank) {
  return std::min_element(rank.spans.begin(), rank.spans.end(),
                          [](const Span& a, const Span& b) { return a.begin_ns < b.begin_ns; })
      ->begin_ns;
}

}  // namespace ddbench::analyzer
