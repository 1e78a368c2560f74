#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "gui/timeline/timeline_coverage.h"

namespace ddbench::gui {

struct Timeline;

/// The lanes of a node's ranks, which follow each other, and what its ranks do in the mean. Each instant of a rank
/// counts once, as in the partition of a step: compute before communication, copy, data wait and host time. So a
/// node's communication is exposed communication, and its shares sum to at most 1.
struct TimelineNode {
  int node = 0;
  int ranks = 0;
  int first_rank = 0;
  int last_rank = 0;
  std::size_t first_lane = 0;
  std::size_t lanes = 0;
  std::size_t spans = 0;
  Coverage mean;
};

/// The nodes of a timeline whose lanes are sorted by node and rank. Empty where there is nothing to group: for one node,
/// or nodes of one rank, with fewer than TimelineLayout::kCollapsedFrom ranks. Visits each span.
std::vector<TimelineNode> nodes_of(const Timeline& timeline);

struct BusyPiece {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  SpanKind kind = SpanKind::kHost;
};

/// What each rank of the node does from `from_ns` to `to_ns`, rank by rank, each in the order of time. A span of no
/// length is none. Costs as many spans as lie there.
void visit_busy_pieces(const Timeline& timeline, const TimelineNode& node, std::int64_t from_ns, std::int64_t to_ns,
                       const std::function<void(const BusyPiece&)>& visit);

/// Which rows are drawn: each node's own, and below it its lanes unless the node is collapsed; without nodes
/// all lanes.
class TimelineLayout {
 public:
  static constexpr int kCollapsedFrom = 512;  ///< ranks: nodes of such runs are collapsed at first

  struct Row {
    bool is_node = false;
    std::size_t index = 0;  ///< of the node or the lane
  };

  void reset(const Timeline& timeline);
  std::size_t rows() const noexcept { return rows_.size(); }
  Row row(std::size_t at) const { return rows_[at]; }
  /// That of its node where this is collapsed.
  std::size_t row_of_lane(std::size_t lane) const { return row_of_lane_[lane]; }
  std::size_t row_of_node(std::size_t node) const { return row_of_node_[node]; }
  std::size_t node_of_lane(const Timeline& timeline, std::size_t lane) const;
  bool is_collapsed(std::size_t node) const { return collapsed_[node]; }
  bool any_collapsed() const;
  void collapse(const Timeline& timeline, std::size_t node, bool collapsed);
  void collapse_all(const Timeline& timeline, bool collapsed);

 private:
  void arrange(const Timeline& timeline);

  std::vector<bool> collapsed_;
  std::vector<Row> rows_;
  std::vector<std::size_t> row_of_lane_;
  std::vector<std::size_t> row_of_node_;
};

}  // namespace ddbench::gui
