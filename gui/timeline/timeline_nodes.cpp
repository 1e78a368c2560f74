#include "gui/timeline/timeline_nodes.h"

#include <algorithm>
#include <array>
#include <optional>

#include "gui/timeline/timeline.h"

namespace ddbench::gui {
namespace {

/// A span begins or ends.
struct Edge {
  std::int64_t at_ns;
  SpanKind kind;
  bool begins;
};

void add_edges(const TimelineLane& lane, std::int64_t from_ns, std::int64_t to_ns, std::vector<Edge>& edges) {
  for (const SpanClass& each : lane.classes) {
    const auto first = std::lower_bound(each.begin_ns.begin(), each.begin_ns.end(), from_ns - each.longest_ns);
    for (auto i = static_cast<std::size_t>(first - each.begin_ns.begin());
         i < each.size() && each.begin_ns[i] < to_ns; ++i) {
      const std::int64_t begin = std::max(each.begin_ns[i], from_ns);
      const std::int64_t end = std::min(each.end_ns[i], to_ns);
      if (begin >= end || each.kind[i] == SpanKind::kNcclEvent) continue;
      edges.push_back({begin, each.kind[i], true});
      edges.push_back({end, each.kind[i], false});
    }
  }
}

/// The kinds are numbered in the order of their precedence in a step's partition.
std::optional<SpanKind> first_of(const std::array<int, kSpanKindCount>& open) {
  for (std::size_t kind = 0; kind < open.size(); ++kind) {
    if (open[kind] > 0) return static_cast<SpanKind>(kind);
  }
  return std::nullopt;
}

void visit_pieces(std::vector<Edge>& edges, const std::function<void(const BusyPiece&)>& visit) {
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at_ns < b.at_ns; });
  std::array<int, kSpanKindCount> open{};
  std::int64_t since = 0;
  for (const Edge& edge : edges) {
    if (const auto now = first_of(open); now && edge.at_ns > since) visit({since, edge.at_ns, *now});
    since = edge.at_ns;
    open[static_cast<std::size_t>(edge.kind)] += edge.begins ? 1 : -1;
  }
}

KindsSeen kinds_of(const Timeline& timeline, const TimelineNode& node) {
  KindsSeen seen{};
  for (std::size_t lane = node.first_lane; lane < node.first_lane + node.lanes; ++lane) {
    for (const SpanKind kind : timeline.lanes[lane].kinds) seen[static_cast<std::size_t>(kind)] = true;
  }
  seen[static_cast<std::size_t>(SpanKind::kNcclEvent)] = false;
  return seen;
}

}  // namespace

void visit_busy_pieces(const Timeline& timeline, const TimelineNode& node, std::int64_t from_ns, std::int64_t to_ns,
                       const std::function<void(const BusyPiece&)>& visit) {
  std::vector<Edge> edges;
  const std::size_t end = node.first_lane + node.lanes;
  for (std::size_t lane = node.first_lane; lane < end; ++lane) {
    add_edges(timeline.lanes[lane], from_ns, to_ns, edges);
    if (lane + 1 < end && timeline.lanes[lane + 1].rank == timeline.lanes[lane].rank) continue;
    visit_pieces(edges, visit);
    edges.clear();
  }
}

std::vector<TimelineNode> nodes_of(const Timeline& timeline) {
  std::vector<TimelineNode> nodes;
  int ranks = 0;
  for (std::size_t i = 0; i < timeline.lanes.size(); ++i) {
    const TimelineLane& lane = timeline.lanes[i];
    const bool new_node = nodes.empty() || nodes.back().node != lane.node;
    if (new_node) nodes.push_back({lane.node, 0, lane.rank, lane.rank, i, 0, 0, {}});
    TimelineNode& node = nodes.back();
    if (new_node || timeline.lanes[i - 1].rank != lane.rank) ++node.ranks, ++ranks;
    node.last_rank = lane.rank;
    node.spans += lane.spans;
    ++node.lanes;
  }
  const bool groups = nodes.size() > 1 && static_cast<std::size_t>(ranks) > nodes.size();
  if (!groups && ranks < TimelineLayout::kCollapsedFrom) return {};
  for (TimelineNode& node : nodes) {
    CoverageBuilder mean(timeline.begin_ns, timeline.end_ns, node.spans, kinds_of(timeline, node), node.ranks);
    visit_busy_pieces(timeline, node, timeline.begin_ns, timeline.end_ns,
                      [&](const BusyPiece& piece) { mean.add(piece.begin_ns, piece.end_ns, piece.kind); });
    node.mean = mean.finish();
  }
  return nodes;
}

void TimelineLayout::reset(const Timeline& timeline) {
  int ranks = 0;
  for (const TimelineNode& node : timeline.nodes) ranks += node.ranks;
  collapsed_.assign(timeline.nodes.size(), ranks >= kCollapsedFrom);
  arrange(timeline);
}

bool TimelineLayout::any_collapsed() const {
  return std::find(collapsed_.begin(), collapsed_.end(), true) != collapsed_.end();
}

void TimelineLayout::collapse(const Timeline& timeline, std::size_t node, bool collapsed) {
  collapsed_[node] = collapsed;
  arrange(timeline);
}

void TimelineLayout::collapse_all(const Timeline& timeline, bool collapsed) {
  collapsed_.assign(collapsed_.size(), collapsed);
  arrange(timeline);
}

std::size_t TimelineLayout::node_of_lane(const Timeline& timeline, std::size_t lane) const {
  const auto after = std::upper_bound(timeline.nodes.begin(), timeline.nodes.end(), lane,
                                      [](std::size_t at, const TimelineNode& node) { return at < node.first_lane; });
  return static_cast<std::size_t>(after - timeline.nodes.begin()) - 1;
}

void TimelineLayout::arrange(const Timeline& timeline) {
  rows_.clear();
  row_of_node_.clear();
  row_of_lane_.assign(timeline.lanes.size(), 0);
  const auto add_lane = [&](std::size_t lane) {
    row_of_lane_[lane] = rows_.size();
    rows_.push_back({false, lane});
  };
  if (timeline.nodes.empty()) {
    for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane) add_lane(lane);
  }
  for (std::size_t n = 0; n < timeline.nodes.size(); ++n) {
    const TimelineNode& node = timeline.nodes[n];
    const std::size_t own = rows_.size();
    row_of_node_.push_back(own);
    rows_.push_back({true, n});
    for (std::size_t lane = node.first_lane; lane < node.first_lane + node.lanes; ++lane) {
      row_of_lane_[lane] = own;
      if (!collapsed_[n]) add_lane(lane);
    }
  }
}

}  // namespace ddbench::gui
