#include "gui/charts/ink_shapes.h"

#include <QPainterPath>

namespace ddbench::gui {
namespace {

using reports::Hatch;
using reports::Marker;

bool is_open(Marker marker) {
  return marker == Marker::kRing || marker == Marker::kCross || marker == Marker::kPlus;
}

QPainterPath marker_path(Marker marker) {
  QPainterPath path;
  const auto polygon = [&](std::initializer_list<QPointF> points) {
    path.addPolygon(QPolygonF(QList<QPointF>(points)));
    path.closeSubpath();
  };
  const auto stroke = [&](QPointF from, QPointF to) {
    path.moveTo(from);
    path.lineTo(to);
  };
  switch (marker) {
    case Marker::kSquare: path.addRect(-4, -4, 8, 8); break;
    case Marker::kTriangle: polygon({{0, -5}, {5, 4}, {-5, 4}}); break;
    case Marker::kWedge: polygon({{0, 5}, {5, -4}, {-5, -4}}); break;
    case Marker::kDiamond: polygon({{0, -5.5}, {5.5, 0}, {0, 5.5}, {-5.5, 0}}); break;
    case Marker::kCross:
      stroke({-4, -4}, {4, 4});
      stroke({-4, 4}, {4, -4});
      break;
    case Marker::kPlus:
      stroke({-5, 0}, {5, 0});
      stroke({0, -5}, {0, 5});
      break;
    default: path.addEllipse(QPointF(0, 0), 4.2, 4.2);
  }
  return path;
}

void draw_hatch(QPainter& painter, Hatch hatch) {
  const auto line = [&](double x1, double y1, double x2, double y2) {
    painter.drawLine(QPointF(x1, y1), QPointF(x2, y2));
  };
  if (hatch == Hatch::kRising || hatch == Hatch::kCross) {
    line(-2, 2, 2, -2), line(0, 8, 8, 0), line(6, 10, 10, 6);
  }
  if (hatch == Hatch::kFalling || hatch == Hatch::kCross) {
    line(-2, 6, 2, 10), line(0, 0, 8, 8), line(6, -2, 10, 2);
  }
  if (hatch == Hatch::kHorizontal) line(0, 4, 8, 4);
  if (hatch == Hatch::kVertical) line(4, 0, 4, 8);
  if (hatch == Hatch::kDots) line(1, 2, 3, 2), line(5, 6, 7, 6);
}

}  // namespace

void draw_marker(QPainter& painter, const reports::Ink& ink, QPointF at, const QColor& color, double scale) {
  painter.save();
  painter.translate(at);
  painter.scale(scale, scale);
  if (is_open(ink.marker)) {
    painter.setPen(QPen(color, 2));
    painter.setBrush(ink.marker == Marker::kRing ? QBrush(theme().surface) : QBrush(Qt::NoBrush));
  } else {
    painter.setPen(QPen(theme().surface, 1));
    painter.setBrush(color);
  }
  painter.drawPath(marker_path(ink.marker));
  painter.restore();
}

QBrush fill_brush(const reports::Ink& ink, const Theme& theme) {
  const QColor color = theme.ink(ink);
  if (ink.hatch == Hatch::kNone) return color;
  QPixmap tile(8, 8);
  tile.fill(color);
  QPainter painter(&tile);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setOpacity(0.55);
  painter.setPen(QPen(theme.surface, ink.hatch == Hatch::kDots ? 1.6 : 1));
  draw_hatch(painter, ink.hatch);
  return QBrush(tile);
}

QPixmap legend_swatch(const reports::svg::LegendEntry& entry, const Theme& theme, bool shown,
                      double pixel_ratio) {
  QPixmap pixmap(QSizeF(18 * pixel_ratio, 14 * pixel_ratio).toSize());
  pixmap.setDevicePixelRatio(pixel_ratio);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setOpacity(shown ? 1 : 0.35);
  const QColor color = theme.ink(*entry.ink);
  if (!entry.is_line) {
    const QRectF box(2, 1, 14, 12);
    painter.fillRect(box, fill_brush(*entry.ink, theme));
    return pixmap;
  }
  if (entry.joined) {
    painter.setPen(QPen(color, 2, entry.ink->dashed ? Qt::DashLine : Qt::SolidLine));
    painter.drawLine(QPointF(0, 7), QPointF(18, 7));
  }
  if (!entry.ink->dashed) draw_marker(painter, *entry.ink, {9, 7}, color);
  return pixmap;
}

}  // namespace ddbench::gui
