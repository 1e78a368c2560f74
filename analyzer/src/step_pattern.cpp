#include "ddbench/analyzer/step_pattern.h"

#include <algorithm>

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
// Of a pause to the median one, either way.
constexpr std::int64_t kAboutAsLong = 3;

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

/// Steps from both ends of `begin`: what repeats the word is a step, what does not is passed over.
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

/// Share of the steps that begin with a pause about as long as the median one. Where a period is no step's,
/// some of its repetitions begin between two buckets, and others at a forward pass.
double regularity(Collectives all, const std::vector<std::size_t>& firsts) {
  std::vector<std::int64_t> pauses_ns;
  for (std::size_t i = 1; i < firsts.size(); ++i) {
    pauses_ns.push_back(std::max<std::int64_t>(1, pause_before(all, firsts[i])));
  }
  std::sort(pauses_ns.begin(), pauses_ns.end());
  const std::int64_t median_ns = pauses_ns[pauses_ns.size() / 2];
  const auto regular = std::count_if(pauses_ns.begin(), pauses_ns.end(), [&](std::int64_t pause_ns) {
    return pause_ns <= kAboutAsLong * median_ns && median_ns <= kAboutAsLong * pause_ns;
  });
  return static_cast<double>(regular) / static_cast<double>(pauses_ns.size());
}

/// Steps that follow each other. Where few do, what lies between them is a part of each.
std::size_t contiguous(const std::vector<std::size_t>& firsts, std::size_t period) {
  std::size_t count = 0;
  for (std::size_t i = 1; i < firsts.size(); ++i) count += firsts[i] == firsts[i - 1] + period;
  return count;
}

StepPattern pattern_of(Collectives searched, std::size_t period) {
  const std::size_t begin = find_begin(searched, period);
  StepPattern pattern{period, cover(searched, searched.subspan(begin, period), begin), 0};
  if (pattern.firsts.size() < kFewestPeriods) return {};
  if (5 * contiguous(pattern.firsts, period) < 3 * (pattern.firsts.size() - 1)) return {};
  const auto covered = static_cast<double>(pattern.firsts.size() * period);
  const auto from_first = static_cast<double>(searched.size() - pattern.firsts.front());
  const double regular = regularity(searched, pattern.firsts);
  // Squared: where a step has equal buckets, most of the pauses between them are alike too.
  pattern.confidence = covered / from_first * regular * regular;
  return pattern;
}

}  // namespace

StepPattern find_step_pattern(Collectives all) {
  const Collectives searched = all.first(std::min(all.size(), kSearched));
  std::vector<StepPattern> candidates;
  double best = 0;
  for (std::size_t period = 1; period <= kLongestPeriod && period * kFewestPeriods <= searched.size();
       ++period) {
    if (recurrence(searched, period) < kWorthATry) continue;
    candidates.push_back(pattern_of(searched, period));
    best = std::max(best, candidates.back().confidence);
  }
  if (best < kLeastStepConfidence) return {};
  const auto shortest = std::find_if(
      candidates.begin(), candidates.end(),
      [best](const StepPattern& candidate) { return candidate.confidence >= kClearlyBetter * best; });
  StepPattern found = *shortest;
  if (searched.size() < all.size()) {
    found.firsts = cover(all, all.subspan(found.firsts.front(), found.period), found.firsts.front());
  }
  return found;
}

}  // namespace ddbench::analyzer
