#pragma once

#include <QPointF>
#include <QRectF>
#include <QString>
#include <vector>

#include "reports/chart/chart.h"

namespace ddbench::gui {

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

/// Where a chart's values lie on the screen. Bands lie at positions 0, 1, 2, ...; with `horizontal` bars they
/// run down the page and values to the right.
struct ChartFrame {
  QRectF plot;
  bool horizontal = false;
  AxisRange x;
  AxisRange y;
  std::vector<AxisTick> x_ticks;
  std::vector<AxisTick> y_ticks;
  bool turned_labels = false;  ///< of the bands
  double band_label_room = 0;

  QPointF at(double x_position, double y_position) const;
  double band_size() const;
  /// The rectangle of a bar between two positions of the value axis.
  QRectF bar(const reports::svg::Bar& bar, double from, double to) const;
};

/// The whole of both axes.
AxisRange whole_x(const reports::svg::Chart& chart);
AxisRange whole_y(const reports::svg::Chart& chart);

/// Lays a chart out in `area` for the given ranges: chooses direction, ticks, and the room for their labels.
ChartFrame lay_out_frame(const reports::svg::Chart& chart, const QRectF& area, AxisRange x, AxisRange y);

}  // namespace ddbench::gui
