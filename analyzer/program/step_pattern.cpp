#include "analyzer/program/step_pattern.h"

#include <algorithm>
#include <iterator>

namespace ddbench::analyzer {
namespace {

using Collectives = std::span<const ObservedCollective>;

constexpr std::size_t kLongestPeriod = 2048;
constexpr std::size_t kSearched = 16384;
constexpr std::size_t kFewestPeriods = 3;
// A longer period that covers this much more than a shorter one is a sequence of its own; else it is several
// steps.
constexpr double kClearlyBetter = 0.75;
constexpr double kWorthATry = 0.3;
// Ratio of two pauses, in either direction.
constexpr std::int64_t kAboutAsLong = 3;
// Equal buckets of a step, without and with another one: a larger number is more likely a program that does something else at
// regular intervals.
constexpr std::size_t kMostEqualParts = 7;
constexpr std::size_t kMostPartsAndAnother = 10;
constexpr std::size_t kFewestBegins = 6;

bool equal(const ObservedCollective& a, const ObservedCollective& b) {
  return a.function == b.function && a.bytes == b.bytes;
}

/// Share of collectives that are followed by their like `period` later.
double recurrence(Collectives all, std::size_t period) {
  std::size_t equals = 0;
  for (std::size_t i = 0; i + period < all.size(); ++i) equals += equal(all[i], all[i + period]);
  return static_cast<double>(equals) / static_cast<double>(all.size() - period);
}

std::int64_t pause_before(Collectives all, std::size_t index) {
  return index == 0 ? 0 : all[index].begin_ns - all[index - 1].end_ns;
}

/// Where a step begins in the longest stretch of repetitions: the place in the period with the longest
/// pauses.
std::size_t find_begin(Collectives all, std::size_t period) {
  std::size_t longest = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0, run = 0; i + period < all.size(); ++i) {
    run = equal(all[i], all[i + period]) ? run + 1 : 0;
    if (run > longest) {
      longest = run;
      begin = i + 1 - run;
    }
  }
  const std::size_t end = begin + longest + period;
  std::size_t best = begin;
  std::int64_t best_pause_ns = -1;
  for (std::size_t phase = begin; phase < begin + std::min(period, longest + 1); ++phase) {
    // The median: one long pause (a checkpoint) is no forward pass.
    std::vector<std::int64_t> pauses_ns;
    for (std::size_t i = phase; i < end; i += period) {
      if (i > 0) pauses_ns.push_back(pause_before(all, i));
    }
    if (pauses_ns.empty()) continue;
    const auto middle = pauses_ns.begin() + static_cast<std::ptrdiff_t>(pauses_ns.size() / 2);
    std::nth_element(pauses_ns.begin(), middle, pauses_ns.end());
    if (*middle > best_pause_ns) {
      best_pause_ns = *middle;
      best = phase;
    }
  }
  return best;
}

bool repeats(Collectives all, Collectives word, std::size_t at) {
  if (at + word.size() > all.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (!equal(all[at + i], word[i])) return false;
  }
  return true;
}

/// Steps from both ends of `begin`: repetitions of the word are steps, everything else is skipped.
std::vector<std::size_t> cover(Collectives all, Collectives word, std::size_t begin) {
  std::vector<std::size_t> firsts;
  for (std::size_t at = begin; at >= word.size();) {
    const bool step = repeats(all, word, at - word.size());
    at -= step ? word.size() : 1;
    if (step) firsts.push_back(at);
  }
  std::reverse(firsts.begin(), firsts.end());
  for (std::size_t at = begin; at < all.size();) {
    const bool step = repeats(all, word, at);
    if (step) firsts.push_back(at);
    at += step ? word.size() : 1;
  }
  return firsts;
}

/// Ascending; at least 1 ns each.
std::vector<std::int64_t> pauses_before(Collectives all, std::span<const std::size_t> firsts) {
  std::vector<std::int64_t> pauses_ns;
  for (const std::size_t first : firsts) {
    if (first > 0) pauses_ns.push_back(std::max<std::int64_t>(1, pause_before(all, first)));
  }
  std::sort(pauses_ns.begin(), pauses_ns.end());
  return pauses_ns;
}

/// Share of times, ascending, that are about as long as the median one.
double share_like_the_median(const std::vector<std::int64_t>& times_ns) {
  const std::int64_t median_ns = times_ns[times_ns.size() / 2];
  const auto regular = std::count_if(times_ns.begin(), times_ns.end(), [&](std::int64_t time_ns) {
    return time_ns <= kAboutAsLong * median_ns && median_ns <= kAboutAsLong * time_ns;
  });
  return static_cast<double>(regular) / static_cast<double>(times_ns.size());
}

/// From the begin of each step to that of the next, ascending.
std::vector<std::int64_t> lengths(Collectives all, const std::vector<std::size_t>& firsts) {
  std::vector<std::int64_t> lengths_ns;
  for (std::size_t i = 1; i < firsts.size(); ++i)
    lengths_ns.push_back(std::max<std::int64_t>(1, all[firsts[i]].begin_ns - all[firsts[i - 1]].begin_ns));
  std::sort(lengths_ns.begin(), lengths_ns.end());
  return lengths_ns;
}

/// Share of regular steps, by the pauses that begin them or by their lengths: a busy machine changes short pauses by more than their
/// length, and a step that is long for another reason begins with a usual pause.
double regularity(Collectives all, const std::vector<std::size_t>& firsts) {
  return std::max(share_like_the_median(pauses_before(all, std::span(firsts).subspan(1))),
                  share_like_the_median(lengths(all, firsts)));
}

/// Whether a step of `pattern` contains the collective.
bool has(const StepPattern& pattern, std::size_t index) {
  const auto after = std::upper_bound(pattern.firsts.begin(), pattern.firsts.end(), index);
  return after != pattern.firsts.begin() && index < *std::prev(after) + pattern.period;
}

/// Whether `parts` are not steps but parts of the steps of `whole`: the pauses that begin a step of `whole`
/// are clearly longer than those before the other parts. The machine lengthens some pauses: an eighth of the
/// former may be short, a quarter of the latter long.
bool is_part(Collectives all, const StepPattern& parts, const StepPattern& whole) {
  const std::size_t most = whole.covered > parts.covered ? kMostPartsAndAnother : kMostEqualParts;
  if (whole.period <= parts.period || parts.firsts.size() > most * whole.firsts.size()) return false;
  std::vector<std::size_t> begins;
  std::vector<std::size_t> others;
  std::copy_if(whole.firsts.begin(), whole.firsts.end(), std::back_inserter(begins),
               [&](std::size_t first) { return has(parts, first); });
  std::set_difference(parts.firsts.begin(), parts.firsts.end(), begins.begin(), begins.end(),
                      std::back_inserter(others));
  if (begins.size() < kFewestBegins || 4 * begins.size() < 3 * whole.firsts.size()) return false;
  const std::vector<std::int64_t> before_ns = pauses_before(all, begins);
  const std::vector<std::int64_t> others_ns = pauses_before(all, others);
  if (before_ns.empty() || others_ns.empty()) return false;
  return before_ns[before_ns.size() / 8] > kAboutAsLong * others_ns[3 * others_ns.size() / 4];
}

/// Number of steps that directly follow another one. If there are few, the collectives in between are a part
/// of each step.
std::size_t contiguous(const std::vector<std::size_t>& firsts, std::size_t period) {
  std::size_t count = 0;
  for (std::size_t i = 1; i < firsts.size(); ++i) count += firsts[i] == firsts[i - 1] + period;
  return count;
}

StepPattern pattern_of(Collectives searched, std::size_t period) {
  const std::size_t begin = find_begin(searched, period);
  StepPattern pattern{period, cover(searched, searched.subspan(begin, period), begin)};
  if (pattern.firsts.size() < kFewestPeriods) return {};
  if (5 * contiguous(pattern.firsts, period) < 3 * (pattern.firsts.size() - 1)) return {};
  pattern.covered = static_cast<double>(pattern.firsts.size() * period) /
                    static_cast<double>(searched.size() - pattern.firsts.front());
  pattern.confidence = pattern.covered * regularity(searched, pattern.firsts);
  return pattern;
}

}  // namespace

StepPattern find_step_pattern(Collectives all) {
  const Collectives searched = all.first(std::min(all.size(), kSearched));
  std::vector<StepPattern> candidates;
  double most_covered = 0;
  for (std::size_t period = 1; period <= kLongestPeriod && period * kFewestPeriods <= searched.size();
       ++period) {
    if (recurrence(searched, period) < kWorthATry) continue;
    StepPattern candidate = pattern_of(searched, period);
    if (candidate.period == 0) continue;
    most_covered = std::max(most_covered, candidate.covered);
    candidates.push_back(std::move(candidate));
  }
  const auto is_step = [&](const StepPattern& candidate) {
    return candidate.covered >= kClearlyBetter * most_covered &&
           std::none_of(candidates.begin(), candidates.end(),
                        [&](const StepPattern& other) { return is_part(searched, candidate, other); });
  };
  const auto shortest = std::find_if(candidates.begin(), candidates.end(), is_step);
  if (shortest == candidates.end() || shortest->confidence < kLeastStepConfidence) return {};
  StepPattern found = *shortest;
  if (searched.size() < all.size()) {
    found.firsts = cover(all, all.subspan(found.firsts.front(), found.period), found.firsts.front());
  }
  return found;
}

}  // namespace ddbench::analyzer
