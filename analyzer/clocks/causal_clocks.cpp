#include "analyzer/clocks/causal_clocks.h"

#include <algorithm>
#include <tuple>

namespace ddbench::analyzer {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;
constexpr std::int64_t kWidest_ns = std::int64_t{1} << 40;  // 18 minutes
// What a clock may wander within its second, against the correction at the first collective's time.
constexpr std::int64_t kWander_ns = 1000;
constexpr std::size_t kFewBounds = 1024;

}  // namespace

std::int64_t CausalClocks::second_of(std::size_t rank, std::int64_t local_ns) const {
  const std::int64_t reference_ns = readings_.to_reference(rank, local_ns);
  return reference_ns / kSecond_ns - (reference_ns % kSecond_ns < 0 ? 1 : 0);
}

/// `ends` cannot have ended before `begins` had begun.
void CausalClocks::bound(Second& second, const Attendance& ends, const Attendance& begins) const {
  if (ends.rank == begins.rank) return;
  const std::int64_t slack_ns = readings_.to_reference(ends.rank, ends.end_ns) -
                                readings_.to_reference(begins.rank, begins.begin_ns) + kWander_ns;
  second.bounds.push_back({static_cast<std::uint32_t>(ends.rank), static_cast<std::uint32_t>(begins.rank), slack_ns});
  // Doubles at most: each sort at least halves what came since the last one, or finds that many new pairs.
  if (second.bounds.size() > 2 * second.tightest + kFewBounds) keep_tightest(second);
}

void CausalClocks::keep_tightest(Second& second) {
  const auto order = [](const Bound& bound) { return std::tuple(bound.earlier, bound.later, bound.bound_ns); };
  std::sort(second.bounds.begin(), second.bounds.end(), [&](const Bound& a, const Bound& b) { return order(a) < order(b); });
  const auto same_ranks = [](const Bound& a, const Bound& b) { return a.ranks() == b.ranks(); };
  second.bounds.erase(std::unique(second.bounds.begin(), second.bounds.end(), same_ranks), second.bounds.end());
  second.tightest = second.bounds.size();
}

const CausalClocks::Bound* CausalClocks::find_bound(const Second& second, std::size_t earlier, std::size_t later) {
  const std::pair ranks(static_cast<std::uint32_t>(earlier), static_cast<std::uint32_t>(later));
  const auto found = std::lower_bound(second.bounds.begin(), second.bounds.end(), ranks,
                                      [](const Bound& bound, const auto& wanted) { return bound.ranks() < wanted; });
  return found != second.bounds.end() && found->ranks() == ranks ? &*found : nullptr;
}

CausalClocks::Second& CausalClocks::second_with(std::int64_t second, std::span<const Attendance> ranks) {
  const std::int64_t at_ns = readings_.to_reference(ranks.front().rank, ranks.front().begin_ns);
  return seconds_.try_emplace(second, Second{.at_ns = at_ns, .bounds = {}, .tightest = 0, .corrections = {}}).first->second;
}

void CausalClocks::add_all_pairs(std::int64_t second, std::span<const Attendance> ranks) {
  if (readings_.is_exact() || ranks.size() < 2) return;
  Second& entry = second_with(second, ranks);
  for (const Attendance& ends : ranks) {
    for (const Attendance& begins : ranks) bound(entry, ends, begins);
  }
}

void CausalClocks::add(std::int64_t second, std::span<const Attendance> ranks) {
  if (readings_.is_exact() || ranks.size() < 2) return;
  Second& entry = second_with(second, ranks);
  const auto by_end = [this](const Attendance& a, const Attendance& b) {
    return readings_.to_reference(a.rank, a.end_ns) < readings_.to_reference(b.rank, b.end_ns);
  };
  const auto by_begin = [this](const Attendance& a, const Attendance& b) {
    return readings_.to_reference(a.rank, a.begin_ns) < readings_.to_reference(b.rank, b.begin_ns);
  };
  // Of all pairs, those with the first rank to end and the last to begin give the tightest bounds; using all
  // pairs would be expensive.
  const Attendance& first = *std::min_element(ranks.begin(), ranks.end(), by_end);
  const Attendance& last = *std::max_element(ranks.begin(), ranks.end(), by_begin);
  for (const Attendance& rank : ranks) {
    bound(entry, first, rank);
    bound(entry, rank, last);
  }
}

bool CausalClocks::fits(Second& second, std::int64_t wider_ns) const {
  second.corrections.clear();
  for (std::size_t rank = 0; rank < readings_.ranks(); ++rank) {
    const std::int64_t half_ns = readings_.uncertainty_at_reference_ns(rank, second.at_ns) + wider_ns;
    second.corrections.push_back({-half_ns, half_ns});
  }
  // Bellman-Ford: one round more than the number of ranks changes nothing unless the bounds contradict each
  // other.
  for (std::size_t round = 0; round <= second.corrections.size(); ++round) {
    bool changed = false;
    for (const auto& [earlier, later, bound_ns] : second.bounds) {
      Range& a = second.corrections[earlier];
      Range& b = second.corrections[later];
      if (a.high_ns + bound_ns < b.high_ns) {
        b.high_ns = a.high_ns + bound_ns;
        changed = true;
      }
      if (b.low_ns - bound_ns > a.low_ns) {
        a.low_ns = b.low_ns - bound_ns;
        changed = true;
      }
      // Ranges only narrow: what is empty stays so.
      if (a.low_ns > a.high_ns || b.low_ns > b.high_ns) return false;
    }
    if (!changed) break;
  }
  return true;
}

void CausalClocks::solve() {
  for (auto& [number, second] : seconds_) {
    keep_tightest(second);
    std::int64_t wider_ns = 0;
    while (!fits(second, wider_ns)) {
      wider_ns = std::max<std::int64_t>(1, 2 * wider_ns);
      if (wider_ns < kWidest_ns) continue;
      // The bounds contradict each other, whatever the readings: the spans are damaged.
      second.bounds.clear();
      fits(second, 0);
      break;
    }
    contradictions_ += wider_ns > 0;
  }
}

std::int64_t CausalClocks::to_reference(std::int64_t second, std::size_t rank, std::int64_t local_ns) const {
  const std::int64_t read_ns = readings_.to_reference(rank, local_ns);
  const auto found = seconds_.find(second);
  return found == seconds_.end() ? read_ns : read_ns + found->second.corrections[rank].middle_ns();
}

std::int64_t CausalClocks::uncertainty_ns(std::int64_t second, std::size_t rank, std::size_t other) const {
  if (rank == other || readings_.is_exact()) return 0;
  const auto found = seconds_.find(second);
  if (found == seconds_.end()) {
    const std::int64_t at_ns = second * kSecond_ns + kSecond_ns / 2;
    return readings_.uncertainty_ns(rank, other, at_ns);
  }
  const Second& entry = found->second;
  const Range& a = entry.corrections[rank];
  const Range& b = entry.corrections[other];
  // Bounds on a's correction minus b's.
  std::int64_t most_ns = a.high_ns - b.low_ns;
  std::int64_t least_ns = a.low_ns - b.high_ns;
  if (const Bound* bound = find_bound(entry, other, rank)) most_ns = std::min(most_ns, bound->bound_ns);
  if (const Bound* bound = find_bound(entry, rank, other)) least_ns = std::max(least_ns, -bound->bound_ns);
  const std::int64_t taken_ns = a.middle_ns() - b.middle_ns();
  return std::max<std::int64_t>({0, most_ns - taken_ns, taken_ns - least_ns});
}

}  // namespace ddbench::analyzer
