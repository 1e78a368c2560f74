#pragma once

#include <QPainter>
#include <optional>
#include <vector>

#include "gui/charts/chart_frame.h"
#include "gui/charts/theme.h"

namespace ddbench::gui {

/// Something in a chart that has a value to tell: a mark of a line, or a bar.
struct ChartSpot {
  QRectF area;     ///< of a bar; around a mark
  QPointF anchor;  ///< where its callout points to
  QString tip;
  bool is_bar = false;
  std::size_t band = 0;  ///< of a bar
};

/// Lines of more marks than this are drawn without markers, their intervals as a band.
inline constexpr std::size_t kMostMarkers = 32;

/// All spots inside the plot, in the order in which the keyboard goes through them.
std::vector<ChartSpot> spots_of(const reports::svg::Chart& chart, const ChartFrame& frame);

/// Grid, axes, bars, lines. Antialiased; clips to the plot where the ranges are narrower than the values.
void paint_chart(QPainter& painter, const reports::svg::Chart& chart, const ChartFrame& frame);

/// The value of a spot, in a box that stays within `area`.
void paint_callout(QPainter& painter, const ChartSpot& spot, const QRectF& area);

}  // namespace ddbench::gui
