#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gui/timeline/timeline.h"

namespace ddbench::gui {

/// The time range to draw, and over how many columns.
struct TimeWindow {
  double begin_ns = 0;
  double end_ns = 1;
  int columns = 1;
  /// Above 0: times of a window that is narrower than their precision are the same.
  double ns_per_column() const { return std::max((end_ns - begin_ns) / columns, 1e-6); }
  double column_of(double at_ns) const { return (at_ns - begin_ns) / ns_per_column(); }
  double time_at(double column) const { return begin_ns + column * ns_per_column(); }
};

/// Spans at least this many columns wide get their own rectangle.
inline constexpr double kOwnRectangle = 3;

/// The appearance of one lane in a window: for each column how much of it each kind covers (0 to 1), and the
/// spans that are wide enough to be drawn one by one. If a column is longer than the lane's buckets, only the
/// shares are filled; the cost then does not depend on the number of spans.
class TimelineRow {
 public:
  struct Wide {
    SpanPlace place;
    double from = 0;  ///< columns, cut at the window
    double to = 0;
    int depth = 0;  ///< how many of the others it lies inside: an operator inside a phase
  };

  void fill(const Timeline& timeline, std::size_t lane, const TimeWindow& window);
  /// What the node's ranks do in the mean: shares only, which sum to at most 1.
  void fill_node(const Timeline& timeline, std::size_t node, const TimeWindow& window);

  /// Shares of column c: shares()[c * kSpanKindCount + kind].
  const std::vector<float>& shares() const noexcept { return shares_; }
  /// Outer ones before those nested in them.
  const std::vector<Wide>& wide() const noexcept { return wide_; }

 private:
  void fill_from_coverage(const Coverage& own, std::int64_t begin_ns, const TimeWindow& window);
  void fill_from_spans(const Timeline& timeline, std::size_t lane, const TimeWindow& window);
  void clear(const TimeWindow& window);
  void nest();

  std::vector<float> shares_;
  std::vector<Wide> wide_;
};

}  // namespace ddbench::gui
