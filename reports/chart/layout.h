#pragma once

#include <string>
#include <vector>

#include "reports/chart/axis.h"
#include "reports/chart/chart.h"

namespace ddbench::reports::svg {

// Font sizes in pixels; figure_css uses the same values.
inline constexpr double kTextPx = 12;
inline constexpr double kTitlePx = 15;
inline constexpr double kLinePx = 17;  ///< from one line of text to the next
inline constexpr double kGap = 6;      ///< pixels between related elements

struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
  double width() const noexcept { return right - left; }
  double height() const noexcept { return bottom - top; }
};

struct PlacedLegend {
  LegendEntry entry;
  std::string text;
  double x = 0;
  double y = 0;  ///< baseline of the text
};

enum class BandLabels { kFlat, kTurned };

/// The position of every element. Bands run down the page (`horizontal` bars) if their labels would not fit
/// side by side.
struct Layout {
  double width = 0;
  double height = 0;
  std::vector<std::string> title;
  std::vector<std::string> value_title;  ///< of the value axis: above it, or below horizontal bars
  std::vector<PlacedLegend> legend;
  std::vector<std::string> notes;
  double notes_top = 0;
  Box plot;
  bool horizontal = false;
  BandLabels band_labels = BandLabels::kFlat;
  double band_label_width = 0;  ///< room of one label
  std::size_t label_every = 1;  ///< label only every n-th band if more do not fit
  ValueAxis x;                  ///< numeric charts only
  ValueAxis y;

  double band_size(const Chart& chart) const {
    return (horizontal ? plot.height() : plot.width()) / static_cast<double>(chart.bands.size());
  }
  /// Middle of a band, along the bands' axis.
  double band_middle(const Chart& chart, double band) const {
    return (horizontal ? plot.top : plot.left) + (band + 0.5) * band_size(chart);
  }
  /// Along the value axis.
  double value_position(double value) const {
    return horizontal ? plot.left + y.position(value) * plot.width()
                      : plot.bottom - y.position(value) * plot.height();
  }
};

struct LayoutDemand {
  double width = 720;
  std::string title;               ///< empty: no title
  std::vector<std::string> notes;  ///< drawn below
};

Layout lay_out(const Chart& chart, const LayoutDemand& demand);

}  // namespace ddbench::reports::svg
