#pragma once

#include <QPointF>
#include <QRectF>
#include <QString>
#include <vector>

#include "reports/chart/chart.h"

namespace ddbench::gui {

/// Lines of more points than this are drawn without markers.
inline constexpr std::size_t kMostMarkers = 32;

/// Font size of ticks, titles of axes and values at bars, pixels.
inline constexpr double kChartLabelPx = 11.5;

/// Between a tick's label and the plot, pixels.
inline constexpr double kTickGap = 8;

/// Half of the width of a band's bars, in bands.
inline constexpr double kHalfBar = 0.34;

/// A stretch of an axis, in positions: the value itself, or its logarithm (base 10) on a logarithmic axis.
struct AxisRange {
  double low = 0;
  double high = 1;
  double share(double position) const { return (position - low) / (high - low); }
};

struct AxisTick {
  double position = 0;
  QString text;
};

double position_of(double value, bool logarithmic);

/// The position of a bar on the band axis.
struct BarSpan {
  double begin = 0;
  double end = 0;
};
BarSpan span_of(const reports::svg::Bar& bar);

/// Where a chart's values lie on the screen. Bands lie at positions 0, 1, 2, ...; with `horizontal` bars they
/// run down the page and values to the right.
struct ChartFrame {
  QRectF plot;
  bool horizontal = false;
  AxisRange x;
  AxisRange y;
  std::vector<AxisTick> x_ticks;
  std::vector<AxisTick> y_ticks;
  bool turned_labels = false;   ///< of the bands
  std::size_t label_every = 1;  ///< label only every n-th band if more do not fit
  double band_label_room = 0;

  QPointF at(double x_position, double y_position) const;
  double band_size() const;
  /// The overlay has the labels of the bands, not the axis.
  bool paints_band_labels() const { return horizontal || turned_labels; }
  /// The rectangle of a bar between two positions of the value axis.
  QRectF bar(const reports::svg::Bar& bar, double from, double to) const;
};

/// The whole of both axes, with room for markers at their ends.
AxisRange whole_x(const reports::svg::Chart& chart);
AxisRange whole_y(const reports::svg::Chart& chart);

/// The bands that are labelled, with their labels cut to the available room.
std::vector<AxisTick> shown_bands(const ChartFrame& frame);

/// Lays a chart out in `area` for the given ranges: chooses direction, ticks, and the room for their labels.
ChartFrame lay_out_frame(const reports::svg::Chart& chart, const QRectF& area, AxisRange x, AxisRange y);

}  // namespace ddbench::gui
