#include "gui/timeline/timeline_totals.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

namespace ddbench::gui {
namespace {

struct Piece {
  std::int64_t begin_ns;
  std::int64_t end_ns;
  SpanKind kind;
};

std::vector<Piece> pieces_of(const TimelineLane& lane, std::int64_t from_ns, std::int64_t to_ns) {
  std::vector<Piece> pieces;
  for (const SpanClass& each : lane.classes) {
    const auto first = std::lower_bound(each.begin_ns.begin(), each.begin_ns.end(), from_ns - each.longest_ns);
    for (auto i = static_cast<std::size_t>(first - each.begin_ns.begin());
         i < each.size() && each.begin_ns[i] < to_ns; ++i) {
      const std::int64_t begin = std::max(each.begin_ns[i], from_ns);
      const std::int64_t end = std::min(each.end_ns[i], to_ns);
      if (begin < end) pieces.push_back({begin, end, each.kind[i]});
    }
  }
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.begin_ns < b.begin_ns; });
  return pieces;
}

}  // namespace

std::vector<KindTotal> totals_between(const Timeline& timeline, std::int64_t from_ns, std::int64_t to_ns) {
  std::array<double, kSpanKindCount> sums{};
  std::set<int> ranks;
  for (const TimelineLane& lane : timeline.lanes) {
    ranks.insert(lane.rank);
    std::array<std::int64_t, kSpanKindCount> counted;
    counted.fill(std::numeric_limits<std::int64_t>::min());
    for (const Piece& piece : pieces_of(lane, std::min(from_ns, to_ns), std::max(from_ns, to_ns))) {
      std::int64_t& until = counted[static_cast<std::size_t>(piece.kind)];
      const std::int64_t begin = std::max(piece.begin_ns, until);
      if (begin < piece.end_ns) sums[static_cast<std::size_t>(piece.kind)] += static_cast<double>(piece.end_ns - begin);
      until = std::max(until, piece.end_ns);
    }
  }
  std::vector<KindTotal> totals;
  for (std::size_t kind = 0; kind < sums.size(); ++kind) {
    if (sums[kind] > 0)
      totals.push_back({static_cast<SpanKind>(kind), sums[kind] / static_cast<double>(ranks.size())});
  }
  std::stable_sort(totals.begin(), totals.end(),
                   [](const KindTotal& a, const KindTotal& b) { return a.mean_ns > b.mean_ns; });
  return totals;
}

}  // namespace ddbench::gui
