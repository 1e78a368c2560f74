#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/figure/figure.h"
#include "core/text/quantity.h"
#include "reports/chart/palette.h"

namespace ddbench::reports::svg {

struct Interval {
  double low = 0;
  double high = 0;
  bool low_is_cut = false;  ///< it reaches further than the chart shows
  bool high_is_cut = false;
};

/// A point of a line. x and y are in the units shown; on a band axis x is the index of the band.
struct Mark {
  double x = 0;
  double y = 0;
  std::optional<Interval> interval;
  std::string tip;
};

struct Line {
  std::string name;
  const Ink* ink = nullptr;
  bool joined = true;  ///< false: points only, in no order
  std::vector<Mark> marks;

  /// A line of more points than there is room for markers: drawn without them, its intervals as a band.
  bool is_dense(std::size_t most_markers) const noexcept { return joined && marks.size() > most_markers; }
};

/// One rectangle: `from` and `to` are values; `slot` of `slots` is its place across the band.
struct Bar {
  std::size_t band = 0;
  std::size_t slot = 0;
  std::size_t slots = 1;
  double from = 0;
  double to = 0;
  bool floats = false;  ///< a bar of a waterfall: the next one begins where it ends
  const Ink* ink = nullptr;
  std::optional<Interval> interval;
  std::string tip;
};

/// The value written behind a band's bars and their interval.
struct EndLabel {
  std::size_t band = 0;
  double at = 0;
  std::string text;
};

struct LegendEntry {
  std::string name;
  const Ink* ink = nullptr;
  bool is_line = false;
  bool joined = true;
};

/// A Figure prepared for drawing: values in readable units, bars stacked, values that cannot be drawn left
/// out.
struct Chart {
  std::vector<std::string> bands;  ///< labels of the categories; empty: x is numeric
  std::vector<Line> lines;
  std::vector<Bar> bars;
  std::vector<EndLabel> end_labels;
  std::vector<LegendEntry> legend;  ///< empty if there is nothing to distinguish
  std::string x_title;
  std::string y_title;
  std::string y_unit;
  bool log_x = false;
  bool log_y = false;
  std::string log_x_unit;  ///< stored unit of a logarithmic axis: each tick is scaled for itself
  std::string log_y_unit;
  bool is_waterfall = false;
  std::size_t left_out = 0;  ///< points that cannot be drawn

  bool empty() const noexcept { return lines.empty() && bars.empty(); }
};

Chart make_chart(const analyzer::Figure& figure);

/// "exposed transfer" for "exposed_transfer"; names that ddbench did not define are unchanged.
std::string display_name(std::string_view series_name);

/// False for values that are not finite or too large to compute with, and on a logarithmic axis not positive or next to 0.
bool can_be_drawn(const analyzer::Figure& figure, const analyzer::Point& point);

}  // namespace ddbench::reports::svg
