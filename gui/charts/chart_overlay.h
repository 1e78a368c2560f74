#pragma once

#include <QPainter>
#include <optional>
#include <vector>

#include "gui/charts/chart_frame.h"

namespace ddbench::gui {

/// A place in a chart that has a value: a mark of a line, or a bar.
struct ChartSpot {
  QRectF area;     ///< of a bar; around a mark
  QPointF anchor;  ///< where its callout points to
  QString tip;
  bool is_bar = false;
  std::size_t band = 0;  ///< of a bar
  double x = 0;          ///< position of a mark on the x axis
};

/// All spots inside the plot, in the order in which the keyboard goes through them.
std::vector<ChartSpot> spots_of(const reports::svg::Chart& chart, const ChartFrame& frame);

// Parts of a chart for which Qt Charts has no series. Both functions clip to the plot if the ranges are
// narrower than the values.

/// Behind the series: the intervals of marks.
void paint_intervals(QPainter& painter, const reports::svg::Chart& chart, const ChartFrame& frame);

/// In front of the series: intervals of bars, connectors of waterfalls, values at the ends of bars, bars of
/// length zero, and labels of bands that are placed in rows or turned.
void paint_overlay(QPainter& painter, const reports::svg::Chart& chart, const ChartFrame& frame);

/// A vertical line at a position of a numeric x axis; draws nothing outside the plot.
void paint_crosshair(QPainter& painter, const ChartFrame& frame, double x_position);

/// The value of a spot, in a box that stays within `area`.
void paint_callout(QPainter& painter, const ChartSpot& spot, const QRectF& area);

}  // namespace ddbench::gui
