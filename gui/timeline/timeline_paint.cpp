#include <QImage>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/charts/chart_overlay.h"
#include "gui/charts/theme.h"
#include "gui/timeline/timeline_axis.h"
#include "gui/timeline/timeline_colors.h"
#include "gui/timeline/timeline_view.h"

namespace ddbench::gui {
namespace {

constexpr double kRoomForName = 44;
constexpr double kLeastRow = 13;  ///< pixels

}  // namespace

void TimelineView::paint_wide(QPainter& painter, const TimelineRow::Wide& wide, bool has_inner, const QRectF& area) const {
  const SpanClass& spans = timeline_->lanes[wide.place.lane].classes[wide.place.span_class];
  const bool stands_out = !filter_.is_active() || filter_.matches(spans.name[wide.place.index], spans.kind[wide.place.index]);
  const SpanKind kind = spans.kind[wide.place.index];
  // Nested ones lie in rows of their own, as far as there is room for names.
  const double rows = std::min<double>(wide.depth, std::max(0.0, std::floor(area.height() / kLeastRow) - 1));
  const double above = std::min(rows * kLeastRow, area.height() * 0.75);
  const QRectF box(area.left() + wide.from, area.top() + above, wide.to - wide.from, area.height() - above);
  painter.fillRect(box, stands_out ? color_of(kind) : faint_color_of(kind));
  painter.fillRect(QRectF(box.right() - 1, box.top(), 1, box.height()), theme().surface);
  if (box.width() < kRoomForName || box.height() < 12) return;
  painter.setPen(stands_out ? text_on(kind) : theme().muted);
  // The name of a phase stays above its operators.
  const QRectF title = box.adjusted(4, 0, -2, has_inner ? kLeastRow - box.height() : 0);
  painter.drawText(title, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine,
                   shortened(spans.name[wide.place.index], box.width() - 8));
}

/// By the share of the name's width that there is room for: thousands of names a frame are not laid out to be cut.
QString TimelineView::shortened(std::uint32_t name, double room) const {
  const QString text = QString::fromStdString(timeline_->names[name]);
  const auto width = static_cast<double>(name_widths_[name]);
  if (width <= room) return text;
  const auto letters = static_cast<qsizetype>(static_cast<double>(text.size()) * room / width);
  return text.left(std::max<qsizetype>(letters - 1, 1)) + QStringLiteral("…");
}

void TimelineView::paint_lane(QPainter& painter, std::size_t lane, const QRectF& area) {
  const TimeWindow seen = window();
  row_.fill(*timeline_, lane, seen);
  QImage columns(seen.columns, 1, QImage::Format_RGB32);
  mix_columns(row_.shares(), filter_.is_active(), reinterpret_cast<QRgb*>(columns.scanLine(0)), seen.columns);
  painter.drawImage(QRectF(area.left(), area.top(), seen.columns, area.height()), columns);
  const std::vector<TimelineRow::Wide>& wide = row_.wide();
  for (std::size_t i = 0; i < wide.size(); ++i) {
    const bool has_inner = i + 1 < wide.size() && wide[i + 1].depth > wide[i].depth && area.height() >= 2 * kLeastRow;
    paint_wide(painter, wide[i], has_inner, area);
  }
}

void TimelineView::paint_axis(QPainter& painter) const {
  const TimeWindow seen = window();
  const QRectF area = plot();
  const double zero = timeline_->steps.empty() ? static_cast<double>(timeline_->begin_ns)
                                               : static_cast<double>(timeline_->steps.front().begin_ns);
  painter.setFont(font_of(11));
  for (const TimeTick& tick : time_ticks(seen, zero, std::clamp(static_cast<int>(area.width() / 110), 2, 14))) {
    const double x = area.left() + seen.column_of(tick.at_ns);
    if (x < area.left() - 1 || x > area.right()) continue;
    painter.setPen(theme().grid);
    painter.drawLine(QPointF(x, 18), QPointF(x, area.bottom()));
    painter.setPen(theme().muted);
    const double half = painter.fontMetrics().horizontalAdvance(tick.text) / 2.0 + 2;
    if (x + half < width())
      painter.drawText(QRectF(x - half, 2, 2 * half, 15), Qt::AlignHCenter | Qt::AlignVCenter, tick.text);
  }
}

void TimelineView::paint_steps(QPainter& painter) const {
  const TimeWindow seen = window();
  const QRectF area = plot();
  painter.setFont(font_of(10.5));
  double free_from = -1e9;
  double line_free_from = -1e9;
  for (const StepMark& mark : timeline_->steps) {
    const double x = area.left() + seen.column_of(static_cast<double>(mark.begin_ns));
    if (x < area.left() || x > area.right()) continue;
    if (x < line_free_from) continue;
    line_free_from = x + 4;
    painter.setPen(QPen(theme().muted, 1, Qt::DotLine));
    painter.drawLine(QPointF(x, x < free_from ? 36 : 22), QPointF(x, area.bottom()));  // not through a title
    if (x < free_from) continue;
    const bool warm_up = mark.step < timeline_->first_measured;
    const QString title = (warm_up ? QStringLiteral("warm-up %1") : QStringLiteral("step %1")).arg(mark.step);
    const int title_width = painter.fontMetrics().horizontalAdvance(title) + 2;
    if (x + 3 + title_width > area.right()) continue;
    free_from = x + 3 + title_width + 8;
    painter.setPen(theme().text);
    painter.drawText(QRectF(x + 3, 21, title_width, 15), Qt::AlignLeft | Qt::AlignVCenter, title);
  }
}

void TimelineView::paint_scene(QPainter& painter) {
  painter.fillRect(rect(), theme().surface);
  const QRectF area = plot();
  paint_axis(painter);
  painter.setFont(font_of(kTitle_px));
  painter.save();
  painter.setClipRect(QRectF(0, area.top(), width(), area.height()));
  rows_drawn_ = 0;
  const auto first = static_cast<std::size_t>(std::max(scroll_ / row_height(), 0.0));
  for (std::size_t row = first; row < layout_.rows(); ++row) {
    const double top = row_top(row);
    if (top > area.bottom()) break;
    paint_row(painter, row, top);
    ++rows_drawn_;
  }
  painter.restore();
  paint_steps(painter);
}

QRectF TimelineView::area_of(const SpanPlace& place) const {
  const TimeWindow seen = window();
  const double from = seen.column_of(static_cast<double>(begin_of(*timeline_, place)));
  const double to = seen.column_of(static_cast<double>(end_of(*timeline_, place)));
  return QRectF(plot().left() + from, lane_top(place.lane) + 1, std::max(to - from, 2.0), row_height() - 2)
      .intersected(plot());
}

QString TimelineView::tip_of(const SpanPlace& place) const {
  const SpanClass& spans = timeline_->lanes[place.lane].classes[place.span_class];
  const std::string_view kind = to_string(spans.kind[place.index]);
  const auto length = static_cast<double>(end_of(*timeline_, place) - begin_of(*timeline_, place));
  QString text = QString::fromStdString(timeline_->names[spans.name[place.index]]);
  if (!text.isEmpty()) text += QLatin1Char('\n');
  text += QStringLiteral("%1, %2").arg(QString::fromUtf8(kind.data(), static_cast<qsizetype>(kind.size())),
                                       duration_text(length, std::max(length / 1000, 1.0)));
  if (spans.step[place.index] != kNoStep) text += QStringLiteral(", step %1").arg(spans.step[place.index]);
  return text + QStringLiteral(", ") + QString::fromStdString(timeline_->lane_title(place.lane));
}

void TimelineView::paint_measurement(QPainter& painter) const {
  const TimeWindow seen = window();
  const QRectF area = plot();
  const double from =
      area.left() + seen.column_of(static_cast<double>(std::min(measured_->from_ns, measured_->to_ns)));
  const double to =
      area.left() + seen.column_of(static_cast<double>(std::max(measured_->from_ns, measured_->to_ns)));
  const QRectF band = QRectF(from, area.top(), to - from, area.height()).intersected(area);
  QColor fill = theme().accent;
  fill.setAlphaF(0.16F);
  painter.fillRect(band, fill);
  painter.setPen(QPen(theme().accent, 1.5));
  for (const double x : {from, to}) {
    if (x >= area.left() && x <= area.right())
      painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
  }
  paint_callout(painter, {band, {band.center().x(), area.bottom() - 6}, measured_text(), true, 0},
                QRectF(rect()));
}

void TimelineView::paint_overlays(QPainter& painter) const {
  painter.setRenderHint(QPainter::Antialiasing);
  if (measured_) paint_measurement(painter);
  if (selected_) {
    const QRectF area = area_of(*selected_);
    if (!area.isEmpty())
      paint_callout(painter, {area, area.center(), tip_of(*selected_), true, 0}, QRectF(rect()));
  }
  if (hovered_node_) {
    const double top = row_top(layout_.row_of_node(hovered_node_->node));
    const double x = plot().left() + window().column_of(hovered_node_->at_ns);
    paint_callout(painter, {QRectF(x, top, 1, row_height()), {x, top + row_height() / 2},
                            tip_of_node(hovered_node_->node, hovered_node_->at_ns), true, 0},
                  QRectF(rect()));
  }
  if (hovered_) {
    const QRectF area = area_of(*hovered_);
    paint_callout(painter, {area, area.center(), tip_of(*hovered_), true, 0}, QRectF(rect()));
  }
  if (hasFocus()) {
    painter.setPen(QPen(theme().accent, 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 6, 6);
  }
}

void TimelineView::paintEvent(QPaintEvent*) {
  const double ratio = devicePixelRatioF();
  if (scene_.isNull()) {
    scene_ = QPixmap((QSizeF(size()) * ratio).toSize());
    scene_.setDevicePixelRatio(ratio);
    QPainter painter(&scene_);
    paint_scene(painter);
  }
  QPainter painter(this);
  painter.drawPixmap(0, 0, scene_);
  paint_overlays(painter);
}

}  // namespace ddbench::gui
