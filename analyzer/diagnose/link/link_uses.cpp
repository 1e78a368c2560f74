#include "analyzer/diagnose/link/link_uses.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/bounded.h"
#include "core/run_case/link_counters.h"
#include "core/span_limits.h"

namespace ddbench::analyzer {
namespace {

using Values = std::vector<std::pair<std::uint32_t, double>>;

/// Sums that go back are no readings of one connection.
std::vector<LinkReading> readings_of(const Values& bytes, const Values& busy_ns) {
  std::vector<LinkReading> readings;
  auto at = busy_ns.begin();
  for (const auto& value : bytes) {
    const std::uint32_t step = value.first;
    const double sent = value.second;
    at = std::find_if(at, busy_ns.end(), [&](const auto& busy) { return busy.first >= step; });
    if (at == busy_ns.end()) break;
    if (at->first != step || !std::isfinite(sent) || !std::isfinite(at->second)) continue;
    if (!readings.empty() && (sent < readings.back().bytes || at->second < readings.back().busy_ns)) return {};
    readings.push_back({step, sent, at->second});
  }
  return readings;
}

}  // namespace

std::vector<LinkUse> link_uses(const store::RunStore& store, const store::RunId& run, std::span<const store::RankRecord> ranks) {
  std::map<int, int> node_of;
  bool several = false;
  for (const store::RankRecord& rank : ranks) {
    node_of[rank.rank] = rank.node;
    several |= rank.node != ranks.front().node;
  }
  std::vector<LinkUse> uses;
  if (!several) return uses;
  for (const store::RankRecord& rank : ranks) {
    for (int link = 0;; ++link) {
      const Values peers = store.step_values(run, rank.rank, link_peer_name(link));
      if (peers.empty()) break;
      const auto peer = node_of.find(static_cast<int>(bounded(peers.front().second, -1, kMostRanks)));
      if (peer == node_of.end() || peer->second == rank.node) continue;
      LinkUse use{rank.rank, peer->first, rank.node, peer->second,
                  readings_of(store.step_values(run, rank.rank, link_bytes_name(link)),
                              store.step_values(run, rank.rank, link_busy_name(link)))};
      if (use.readings.size() >= 2) uses.push_back(std::move(use));
    }
  }
  return uses;
}

}  // namespace ddbench::analyzer
