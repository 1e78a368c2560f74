#include "gui/charts/chart_painter.h"

#include <QFontMetricsF>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "gui/charts/ink_shapes.h"

namespace ddbench::gui {
namespace {

using reports::svg::Bar;
using reports::svg::Chart;
using reports::svg::Line;
using reports::svg::Mark;

constexpr double kLabelPx = 11.5;
constexpr double kCap = 4;
constexpr double kArrow = 6;

QPointF point_of(const Chart& chart, const ChartFrame& frame, double x, double y) {
  return frame.at(chart.bands.empty() ? position_of(x, chart.log_x) : x, position_of(y, chart.log_y));
}

QRectF bar_area(const Chart& chart, const ChartFrame& frame, const Bar& bar) {
  const double base = chart.log_y ? frame.y.low : position_of(bar.from, false);
  return frame.bar(bar, base, position_of(bar.to, chart.log_y));
}

void paint_band_labels(QPainter& painter, const ChartFrame& frame) {
  const QFontMetricsF metrics(painter.font());
  const double step = frame.band_size();
  const double least = frame.horizontal ? 12.5 : frame.turned_labels ? 15 : 1;
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(least / step)));
  for (std::size_t i = 0; i < frame.x_ticks.size(); i += every) {
    const AxisTick& tick = frame.x_ticks[i];
    const QPointF at = frame.at(tick.position, frame.y.low);
    const QString text = metrics.elidedText(tick.text, Qt::ElideMiddle, frame.band_label_room + 1);
    if (frame.horizontal) {
      painter.drawText(QRectF(at.x() - 8 - frame.band_label_room, at.y() - 10, frame.band_label_room, 20),
                       Qt::AlignRight | Qt::AlignVCenter, text);
    } else if (frame.turned_labels) {
      painter.save();
      painter.translate(at.x() + 4, frame.plot.bottom() + 8);
      painter.rotate(-45);
      painter.drawText(QRectF(-frame.band_label_room - 2, -8, frame.band_label_room, 16),
                       Qt::AlignRight | Qt::AlignVCenter, text);
      painter.restore();
    } else {
      painter.drawText(QRectF(at.x() - step / 2, frame.plot.bottom() + 6, step, 16),
                       Qt::AlignHCenter | Qt::AlignTop, text);
    }
  }
}

void paint_value_ticks(QPainter& painter, const Chart& chart, const ChartFrame& frame) {
  for (const AxisTick& tick : frame.y_ticks) {
    const QPointF from = frame.at(frame.x.low, tick.position);
    const QPointF to = frame.at(frame.x.high, tick.position);
    const bool is_zero = !chart.log_y && tick.position == 0;
    painter.setPen(QPen(is_zero ? theme().muted : theme().grid, 1));
    painter.drawLine(from, to);
    painter.setPen(theme().muted);
    if (frame.horizontal) {
      painter.drawText(QRectF(from.x() - 50, frame.plot.bottom() + 5, 100, 16),
                       Qt::AlignHCenter | Qt::AlignTop, tick.text);
    } else {
      painter.drawText(QRectF(frame.plot.left() - 128, from.y() - 8, 120, 16),
                       Qt::AlignRight | Qt::AlignVCenter, tick.text);
    }
  }
}

void paint_titles(QPainter& painter, const Chart& chart, const ChartFrame& frame) {
  painter.setPen(theme().muted);
  const QString x_title = QString::fromStdString(chart.x_title);
  const QString y_title = QString::fromStdString(chart.y_title);
  const QRectF below(frame.plot.left(), frame.plot.bottom() + 22, frame.plot.width(), 16);
  if (frame.horizontal) {
    painter.drawText(below, Qt::AlignHCenter | Qt::AlignVCenter, y_title);
    return;
  }
  painter.drawText(QRectF(0, frame.plot.top() - 23, frame.plot.right(), 16), Qt::AlignLeft | Qt::AlignVCenter,
                   y_title);
  if (!frame.turned_labels) painter.drawText(below, Qt::AlignHCenter | Qt::AlignVCenter, x_title);
}

void paint_axes(QPainter& painter, const Chart& chart, const ChartFrame& frame) {
  painter.setFont(font_of(kLabelPx));
  painter.setRenderHint(QPainter::Antialiasing, false);
  paint_value_ticks(painter, chart, frame);
  if (chart.bands.empty()) {
    for (const AxisTick& tick : frame.x_ticks) {
      const QPointF at = frame.at(tick.position, frame.y.low);
      painter.setPen(QPen(theme().grid, 1));
      painter.drawLine(at, frame.at(tick.position, frame.y.high));
      painter.setPen(theme().muted);
      painter.drawText(QRectF(at.x() - 60, frame.plot.bottom() + 6, 120, 16), Qt::AlignHCenter | Qt::AlignTop,
                       tick.text);
    }
  }
  painter.setPen(QPen(theme().muted, 1));
  if (!frame.horizontal) painter.drawLine(frame.plot.bottomLeft(), frame.plot.bottomRight());
  painter.setRenderHint(QPainter::Antialiasing, true);
  painter.setPen(theme().muted);
  if (!chart.bands.empty()) paint_band_labels(painter, frame);
  paint_titles(painter, chart, frame);
}

/// From where the interval's low end is to its high end; an end that is cut is an arrow.
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

void paint_bars(QPainter& painter, const Chart& chart, const ChartFrame& frame) {
  const Bar* last = nullptr;
  for (const Bar& bar : chart.bars) {
    QRectF area = bar_area(chart, frame, bar);
    // A bar of no length is still seen: its value is known to be zero, which is not the same as missing.
    if (frame.horizontal && area.width() < 1.5) area.setWidth(1.5);
    if (!frame.horizontal && area.height() < 1.5) area.setTop(area.bottom() - 1.5);
    painter.fillRect(area, theme().ink(*bar.ink));
    if (const QBrush hatch = hatch_brush(bar.ink->hatch, theme().surface); hatch.style() != Qt::NoBrush) {
      painter.setOpacity(0.55);
      painter.fillRect(area, hatch);
      painter.setOpacity(1);
    }
    if (last != nullptr && last->floats && chart.is_waterfall) {
      painter.setPen(QPen(theme().muted, 1, Qt::DotLine));
      const double at = position_of(last->to, false);
      painter.drawLine(frame.at(static_cast<double>(last->band) + 0.34, at),
                       frame.at(static_cast<double>(bar.band) - 0.34, at));
    }
    last = &bar;
  }
  painter.setPen(QPen(theme().text, 1.4));
  for (const Bar& bar : chart.bars) {
    if (!bar.interval) continue;
    const double middle = static_cast<double>(bar.band) - 0.34 +
                          0.68 / static_cast<double>(bar.slots) * (static_cast<double>(bar.slot) + 0.5);
    paint_whisker(painter, *bar.interval, frame.at(middle, position_of(bar.interval->low, chart.log_y)),
                  frame.at(middle, position_of(bar.interval->high, chart.log_y)), frame.horizontal);
  }
}

void paint_end_labels(QPainter& painter, const Chart& chart, const ChartFrame& frame) {
  painter.setFont(font_of(kLabelPx, QFont::DemiBold));
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

void paint_interval_band(QPainter& painter, const Chart& chart, const ChartFrame& frame, const Line& line,
                         QColor color) {
  QPolygonF upper;
  QPolygonF lower;
  for (const Mark& mark : line.marks) {
    if (!mark.interval) continue;
    upper << point_of(chart, frame, mark.x, mark.interval->high);
    lower << point_of(chart, frame, mark.x, mark.interval->low);
  }
  if (upper.size() < 2) return;
  std::reverse(lower.begin(), lower.end());
  color.setAlphaF(0.18F);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawPolygon(upper + lower);
}

void paint_line(QPainter& painter, const Chart& chart, const ChartFrame& frame, const Line& line) {
  const QColor color = theme().ink(*line.ink);
  const bool many = line.marks.size() > kMostMarkers;
  QPolygonF points;
  for (const Mark& mark : line.marks) points << point_of(chart, frame, mark.x, mark.y);
  if (many) {
    paint_interval_band(painter, chart, frame, line, color);
  } else {
    painter.setPen(QPen(color, 1.6));
    for (const Mark& mark : line.marks) {
      if (!mark.interval) continue;
      paint_whisker(painter, *mark.interval, point_of(chart, frame, mark.x, mark.interval->low),
                    point_of(chart, frame, mark.x, mark.interval->high), frame.horizontal);
    }
  }
  if (line.joined && points.size() > 1) {
    painter.setPen(QPen(color, many ? 1.8 : 2.2, line.ink->dashed ? Qt::DashLine : Qt::SolidLine,
                        Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(Qt::NoBrush);
    painter.drawPolyline(points);
  }
  if (line.joined && (many || (line.ink->dashed && points.size() > 1))) return;
  for (const QPointF& at : points) draw_marker(painter, *line.ink, at, color);
}

}  // namespace

std::vector<ChartSpot> spots_of(const Chart& chart, const ChartFrame& frame) {
  std::vector<ChartSpot> spots;
  const QRectF inside = frame.plot.adjusted(-1, -1, 1, 1);
  for (const Bar& bar : chart.bars) {
    const QRectF area = bar_area(chart, frame, bar).intersected(inside);
    if (area.isEmpty() && area.width() + area.height() <= 0) continue;
    spots.push_back({area, area.center(), QString::fromStdString(bar.tip), true, bar.band});
  }
  for (const Line& line : chart.lines) {
    for (const Mark& mark : line.marks) {
      const QPointF at = point_of(chart, frame, mark.x, mark.y);
      if (!inside.contains(at)) continue;
      spots.push_back(
          {QRectF(at.x() - 5, at.y() - 5, 10, 10), at, QString::fromStdString(mark.tip), false, 0});
    }
  }
  return spots;
}

void paint_chart(QPainter& painter, const Chart& chart, const ChartFrame& frame) {
  painter.setRenderHint(QPainter::Antialiasing);
  paint_axes(painter, chart, frame);
  painter.save();
  painter.setClipRect(frame.plot.adjusted(-7, -7, 7, 7));
  paint_bars(painter, chart, frame);
  for (const Line& line : chart.lines) paint_line(painter, chart, frame, line);
  painter.restore();
  paint_end_labels(painter, chart, frame);
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
