#include "gui/charts/chart_overlay.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

#include "gui/charts/ink_shapes.h"
#include "gui/charts/theme.h"

namespace ddbench::gui {
namespace {

using reports::svg::Bar;
using reports::svg::Chart;
using reports::svg::Line;
using reports::svg::Mark;

constexpr double kCap = 4;
constexpr double kArrow = 6;
constexpr double kTurned = -45;  ///< degrees

QPointF point_of(const Chart& chart, const ChartFrame& frame, double x, double y) {
  return frame.at(chart.bands.empty() ? position_of(x, chart.log_x) : x, position_of(y, chart.log_y));
}

QRectF bar_area(const Chart& chart, const ChartFrame& frame, const Bar& bar) {
  const double base = chart.log_y ? frame.y.low : position_of(bar.from, false);
  return frame.bar(bar, base, position_of(bar.to, chart.log_y));
}

/// Draws the interval from `low` to `high`; a cut end is drawn as an arrow.
void paint_whisker(QPainter& painter, const reports::svg::Interval& interval, QPointF low, QPointF high,
                   bool horizontal) {
  const QPointF cap = horizontal ? QPointF(0, kCap) : QPointF(kCap, 0);
  const QPointF upwards = horizontal ? QPointF(kArrow, 0) : QPointF(0, -kArrow);
  const auto end = [&](QPointF at, QPointF back) {
    painter.drawLine(at, at + back - cap);
    painter.drawLine(at, at + back + cap);
  };
  painter.drawLine(low, high);
  end(low, interval.low_is_cut ? upwards : QPointF());
  end(high, interval.high_is_cut ? -upwards : QPointF());
}

/// A bar of length zero stays visible: zero is a known value, not a missing one.
void paint_empty_bar(QPainter& painter, const Chart& chart, const ChartFrame& frame, const Bar& bar) {
  QRectF area = bar_area(chart, frame, bar);
  if ((frame.horizontal ? area.width() : area.height()) >= 1.5) return;
  if (frame.horizontal) {
    area.setWidth(1.5);
  } else {
    area.setTop(area.bottom() - 1.5);
  }
  painter.fillRect(area, theme().ink(*bar.ink));
}

void paint_connector(QPainter& painter, const ChartFrame& frame, const Bar& from, const Bar& to) {
  painter.setPen(QPen(theme().muted, 1, Qt::DotLine));
  const double at = position_of(from.to, false);
  painter.drawLine(frame.at(static_cast<double>(from.band) + kHalfBar, at),
                   frame.at(static_cast<double>(to.band) - kHalfBar, at));
}

void paint_bar_marks(QPainter& painter, const Chart& chart, const ChartFrame& frame) {
  const Bar* last = nullptr;
  for (const Bar& bar : chart.bars) {
    paint_empty_bar(painter, chart, frame, bar);
    if (last != nullptr && last->floats && chart.is_waterfall) paint_connector(painter, frame, *last, bar);
    last = &bar;
  }
  painter.setPen(QPen(theme().text, 1.4));
  for (const Bar& bar : chart.bars) {
    if (!bar.interval) continue;
    const BarSpan span = span_of(bar);
    const double middle = (span.begin + span.end) / 2;
    paint_whisker(painter, *bar.interval, frame.at(middle, position_of(bar.interval->low, chart.log_y)),
                  frame.at(middle, position_of(bar.interval->high, chart.log_y)), frame.horizontal);
  }
}

void paint_line_intervals(QPainter& painter, const Chart& chart, const ChartFrame& frame, const Line& line) {
  if (line.is_dense(kMostMarkers)) return;  // drawn as a band
  painter.setPen(QPen(theme().ink(*line.ink), 1.6));
  for (const Mark& mark : line.marks) {
    if (!mark.interval) continue;
    paint_whisker(painter, *mark.interval, point_of(chart, frame, mark.x, mark.interval->low),
                  point_of(chart, frame, mark.x, mark.interval->high), frame.horizontal);
  }
}

/// The axis at zero, where bars also go below it.
void paint_zero(QPainter& painter, const Chart& chart, const ChartFrame& frame) {
  if (chart.log_y || frame.y.low >= 0 || frame.y.high <= 0) return;
  painter.setPen(QPen(theme().muted, 1));
  painter.drawLine(frame.at(frame.x.low, 0), frame.at(frame.x.high, 0));
}

void paint_end_labels(QPainter& painter, const Chart& chart, const ChartFrame& frame) {
  painter.setFont(font_of(kChartLabelPx, QFont::DemiBold));
  painter.setPen(theme().text);
  const QFontMetricsF metrics(painter.font());
  for (const auto& label : chart.end_labels) {
    const QPointF at = frame.at(static_cast<double>(label.band), position_of(label.at, chart.log_y));
    const QString text = QString::fromStdString(label.text);
    if (frame.horizontal) {
      painter.drawText(QRectF(at.x() + 6, at.y() - 9, 140, 18), Qt::AlignLeft | Qt::AlignVCenter, text);
    } else if (metrics.horizontalAdvance(text) < frame.band_size() - 2) {
      painter.drawText(QRectF(at.x() - 60, at.y() - 18, 120, 16), Qt::AlignHCenter | Qt::AlignBottom, text);
    }
  }
}

/// Labels of rows and turned ones: Qt Charts hides neighbours that are near, and turns about the middle.
void paint_band_labels(QPainter& painter, const ChartFrame& frame) {
  painter.setFont(font_of(kChartLabelPx));
  painter.setPen(theme().muted);
  const QRectF room(-frame.band_label_room - 2, -8, frame.band_label_room + 2, 16);
  for (const AxisTick& tick : shown_bands(frame)) {
    painter.save();
    const QPointF at = frame.at(tick.position, frame.y.low);
    painter.translate(frame.horizontal ? at - QPointF(kTickGap - 2, 0) : at + QPointF(4, 8));
    if (frame.turned_labels) painter.rotate(kTurned);
    painter.drawText(room, Qt::AlignRight | Qt::AlignVCenter, tick.text);
    painter.restore();
  }
}

}  // namespace

std::vector<ChartSpot> spots_of(const Chart& chart, const ChartFrame& frame) {
  std::vector<ChartSpot> spots;
  const QRectF inside = frame.plot.adjusted(-1, -1, 1, 1);
  for (const Bar& bar : chart.bars) {
    const QRectF area = bar_area(chart, frame, bar).intersected(inside);
    if (area.isEmpty() && area.width() + area.height() <= 0) continue;
    spots.push_back({area, area.center(), QString::fromStdString(bar.tip), true, bar.band, 0});
  }
  for (const Line& line : chart.lines) {
    for (const Mark& mark : line.marks) {
      const QPointF at = point_of(chart, frame, mark.x, mark.y);
      if (!inside.contains(at)) continue;
      spots.push_back({QRectF(at.x() - 5, at.y() - 5, 10, 10), at, QString::fromStdString(mark.tip), false, 0,
                       chart.bands.empty() ? position_of(mark.x, chart.log_x) : mark.x});
    }
  }
  return spots;
}

void paint_intervals(QPainter& painter, const Chart& chart, const ChartFrame& frame) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setClipRect(frame.plot.adjusted(-7, -7, 7, 7), Qt::IntersectClip);
  for (const Line& line : chart.lines) paint_line_intervals(painter, chart, frame, line);
  painter.restore();
}

void paint_overlay(QPainter& painter, const Chart& chart, const ChartFrame& frame) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setClipRect(frame.plot.adjusted(-7, -7, 7, 7), Qt::IntersectClip);
  paint_zero(painter, chart, frame);
  paint_bar_marks(painter, chart, frame);
  painter.restore();
  paint_end_labels(painter, chart, frame);
  if (frame.paints_band_labels()) paint_band_labels(painter, frame);
}

void paint_crosshair(QPainter& painter, const ChartFrame& frame, double x_position) {
  if (x_position < frame.x.low || x_position > frame.x.high) return;
  painter.setPen(QPen(theme().accent, 1, Qt::DashLine));
  painter.drawLine(frame.at(x_position, frame.y.low), frame.at(x_position, frame.y.high));
}

void paint_callout(QPainter& painter, const ChartSpot& spot, const QRectF& area) {
  painter.setFont(font_of(12));
  const QFontMetricsF metrics(painter.font());
  const double most = std::min(420.0, area.width() - 24);
  const QRectF text = metrics.boundingRect(QRectF(0, 0, most, 400), Qt::TextWordWrap, spot.tip);
  QRectF box(0, 0, text.width() + 20, text.height() + 14);
  box.moveCenter(spot.anchor);
  box.moveBottom(spot.anchor.y() - 12);
  if (box.top() < area.top()) box.moveTop(spot.anchor.y() + 14);
  if (box.right() > area.right() - 2) box.moveRight(area.right() - 2);
  if (box.left() < area.left() + 2) box.moveLeft(area.left() + 2);
  painter.setPen(QPen(theme().accent, 1));
  painter.setBrush(theme().raised);
  painter.drawRoundedRect(box, 6, 6);
  painter.setPen(theme().text);
  painter.drawText(box.adjusted(10, 7, -10, -7), Qt::TextWordWrap, spot.tip);
  painter.setPen(QPen(theme().accent, 2));
  painter.setBrush(Qt::NoBrush);
  if (spot.is_bar) {
    painter.drawRect(spot.area);
  } else {
    painter.drawEllipse(spot.anchor, 8, 8);
  }
}

}  // namespace ddbench::gui
