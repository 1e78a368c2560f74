#include "analyzer/diagnose/link/slow_link.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "analyzer/statistics/statistics.h"

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kMostSuspects = 16;  // of each kind, the slowest ones
constexpr double kTick_ns = 4e6;           // of the kernel: shorter times cannot be distinguished from zero
constexpr double kSlowPerQuick = 4;        // a window needs this many slow stretches for each quick one

using Kind = SlowLink::Kind;

struct Suspect {
  Kind kind = Kind::kNode;
  int node = 0;
  int to_node = -1;
  bool has(const DirectionUse& direction) const {
    if (kind == Kind::kNode) return direction.from_node == node || direction.to_node == node;
    const bool forth = direction.from_node == node && direction.to_node == to_node;
    return forth || (kind == Kind::kPair && direction.from_node == to_node && direction.to_node == node);
  }
};

double rate_in(const DirectionUse& direction, std::size_t first, std::size_t end) {
  const auto sum = [&](const std::vector<double>& values) {
    return std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(first), values.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
  };
  const double busy_ns = sum(direction.busy_ns);
  const double bytes = sum(direction.bytes);
  if (bytes <= 0) return 0;
  return bytes / std::max(busy_ns, kTick_ns);
}

struct Rates {
  std::vector<double> named;
  std::vector<double> others;
};

Rates rates_in(const LinkTable& table, const Suspect& suspect, std::size_t first, std::size_t end) {
  Rates rates;
  for (const DirectionUse& direction : table.directions) {
    const double rate = rate_in(direction, first, end);
    if (rate > 0) (suspect.has(direction) ? rates.named : rates.others).push_back(rate);
  }
  return rates;
}

bool is_slow(const Rates& rates, double most_ratio) {
  if (rates.named.empty() || rates.others.empty()) return false;
  return *std::max_element(rates.named.begin(), rates.named.end()) <= most_ratio * median(rates.others);
}

/// The range [first, end) of stretches with the most slow ones and few fast ones.
std::pair<std::size_t, std::size_t> slow_window(const LinkTable& table, const Suspect& suspect, double most_ratio) {
  std::pair<std::size_t, std::size_t> best{0, 0};
  double most = 0;
  double sum = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < table.ends.size(); ++i) {
    sum += is_slow(rates_in(table, suspect, i, i + 1), most_ratio) ? 1 : -kSlowPerQuick;
    if (sum <= 0) {
      sum = 0;
      first = i + 1;
    } else if (sum > most) {
      most = sum;
      best = {first, i + 1};
    }
  }
  return best;
}

/// The slowest other direction. Where many directions of a node are slow, a few others may be so, too: one in ten is passed over.
double slowest_of(const Rates& rates, Kind kind) {
  constexpr std::size_t kMany = 4;
  std::vector<double> others = rates.others;
  const std::size_t passed_over = kind == Kind::kNode && rates.named.size() >= kMany ? others.size() / 10 : 0;
  std::nth_element(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(passed_over), others.end());
  return others[passed_over];
}

/// What the slowest named direction is busy beyond the others' rate, in all stretches together.
double excess_in(const LinkTable& table, const Suspect& suspect, const SlowLink& link) {
  double most = 0;
  for (const DirectionUse& direction : table.directions) {
    if (!suspect.has(direction)) continue;
    double excess_ns = 0;
    for (std::size_t i = link.first; i < link.end; ++i) excess_ns += direction.busy_ns[i] - direction.bytes[i] / link.others_rate;
    most = std::max(most, excess_ns);
  }
  return most;
}

std::optional<SlowLink> judged(const LinkTable& table, const Suspect& suspect, const SlowLinkLimits& limits) {
  SlowLink link;
  link.kind = suspect.kind;
  link.node = suspect.node;
  link.to_node = suspect.to_node;
  std::tie(link.first, link.end) = slow_window(table, suspect, limits.most_in_stretch);
  if (link.end - link.first < std::max(limits.least_stretches, table.ends.size() / 5)) return std::nullopt;
  const Rates rates = rates_in(table, suspect, link.first, link.end);
  constexpr double kAllAlong = 0.8;
  const bool all_along = static_cast<double>(link.end - link.first) >= kAllAlong * static_cast<double>(table.ends.size());
  if (!is_slow(rates, all_along ? limits.most_ratio : limits.most_ratio_for_a_while)) return std::nullopt;
  const double quickest_named = *std::max_element(rates.named.begin(), rates.named.end());
  if (slowest_of(rates, suspect.kind) < limits.least_apart * quickest_named) return std::nullopt;
  link.rate = median(rates.named);
  link.others_rate = median(rates.others);
  link.ratio = link.rate / link.others_rate;
  link.first_step = link.first == 0 ? table.first_step : table.ends[link.first - 1] + 1;
  link.last_step = table.ends[link.end - 1];
  link.excess_ns = excess_in(table, suspect, link) / (link.last_step - link.first_step + 1.0);
  return link;
}

/// The slowest nodes, pairs and directions.
std::vector<Suspect> suspects_of(const LinkTable& table) {
  std::map<int, std::vector<double>> nodes;
  std::map<std::pair<int, int>, std::vector<double>> pairs;
  std::vector<std::pair<double, Suspect>> directions;
  for (const DirectionUse& direction : table.directions) {
    const double rate = rate_in(direction, 0, table.ends.size());
    nodes[direction.from_node].push_back(rate);
    nodes[direction.to_node].push_back(rate);
    pairs[std::minmax({direction.from_node, direction.to_node})].push_back(rate);
    directions.emplace_back(rate, Suspect{Kind::kDirection, direction.from_node, direction.to_node});
  }
  std::vector<std::pair<double, Suspect>> of_nodes;
  for (auto& [node, rates] : nodes) {
    if (rates.size() > 1) of_nodes.emplace_back(median(std::move(rates)), Suspect{Kind::kNode, node, -1});
  }
  std::vector<std::pair<double, Suspect>> of_pairs;
  for (auto& [pair, rates] : pairs) {
    if (rates.size() > 1) of_pairs.emplace_back(median(std::move(rates)), Suspect{Kind::kPair, pair.first, pair.second});
  }
  std::vector<Suspect> suspects;
  for (auto* list : {&of_nodes, &of_pairs, &directions}) {
    std::stable_sort(list->begin(), list->end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < std::min(kMostSuspects, list->size()); ++i) suspects.push_back((*list)[i].second);
  }
  return suspects;
}

/// Steps at which stretches end: readings that any connection has, 40 at most.
std::vector<std::uint32_t> ends_of(std::span<const LinkUse> uses, std::uint32_t first_step) {
  constexpr std::size_t kMostStretches = 40;
  std::set<std::uint32_t> all;
  for (const LinkUse& use : uses) {
    for (const LinkReading& reading : use.readings) {
      if (reading.step > first_step) all.insert(reading.step);
    }
  }
  const std::size_t stride = (all.size() + kMostStretches - 1) / kMostStretches;
  std::vector<std::uint32_t> ends;
  std::size_t place = 0;
  for (const std::uint32_t step : all) {
    if (++place % stride == 0 || place == all.size()) ends.push_back(step);
  }
  return ends;
}

/// Differences between readings, each in the stretch in which it ends.
void add_use(const LinkUse& use, const std::vector<std::uint32_t>& ends, std::uint32_t first_step, DirectionUse& direction) {
  for (std::size_t i = 1; i < use.readings.size(); ++i) {
    const LinkReading& before = use.readings[i - 1];
    const LinkReading& now = use.readings[i];
    const auto stretch = static_cast<std::size_t>(std::lower_bound(ends.begin(), ends.end(), now.step) - ends.begin());
    if (before.step < first_step || stretch == ends.size()) continue;
    direction.bytes[stretch] += now.bytes - before.bytes;
    direction.busy_ns[stretch] += now.busy_ns - before.busy_ns;
  }
}

}  // namespace

LinkTable link_table(std::span<const LinkUse> uses) {
  LinkTable table;
  if (uses.empty()) return table;
  std::uint32_t first = std::numeric_limits<std::uint32_t>::max();
  for (const LinkUse& use : uses) first = std::min(first, use.readings.front().step);
  table.first_step = first + 1;
  table.ends = ends_of(uses, first);
  std::map<std::pair<int, int>, DirectionUse> directions;
  double most = 0;
  for (const LinkUse& use : uses) {
    DirectionUse& direction = directions[{use.from_node, use.to_node}];
    direction.from_node = use.from_node;
    direction.to_node = use.to_node;
    direction.bytes.resize(table.ends.size());
    direction.busy_ns.resize(table.ends.size());
    add_use(use, table.ends, first, direction);
    most = std::max(most, std::accumulate(direction.bytes.begin(), direction.bytes.end(), 0.0));
  }
  for (auto& [nodes, direction] : directions) {
    constexpr double kLeastShare = 0.05;
    if (std::accumulate(direction.bytes.begin(), direction.bytes.end(), 0.0) > kLeastShare * most)
      table.directions.push_back(std::move(direction));
  }
  return table;
}

std::optional<SlowLink> find_slow_link(const LinkTable& table, const SlowLinkLimits& limits) {
  std::optional<SlowLink> found;
  const auto lost_ns = [](const SlowLink& link) { return link.excess_ns * (link.last_step - link.first_step + 1.0); };
  for (const Suspect& suspect : suspects_of(table)) {
    std::optional<SlowLink> link = judged(table, suspect, limits);
    if (link && (!found || lost_ns(*link) > lost_ns(*found))) found = std::move(link);
  }
  return found;
}

}  // namespace ddbench::analyzer
