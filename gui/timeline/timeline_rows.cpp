// The rows of a TimelineView: nodes, which collapse, and lanes.

#include <QImage>
#include <QPainter>
#include <algorithm>

#include "gui/charts/theme.h"
#include "gui/timeline/timeline_colors.h"
#include "gui/timeline/timeline_view.h"

namespace ddbench::gui {

std::optional<std::size_t> TimelineView::node_at(double y) const {
  const auto row = row_at(y);
  if (!row || !layout_.row(*row).is_node) return std::nullopt;
  return layout_.row(*row).index;
}

/// That of the selected span or under the pointer, else the uppermost.
std::optional<std::size_t> TimelineView::current_node() const {
  if (timeline_->nodes.empty()) return std::nullopt;
  if (hovered_node_) return hovered_node_->node;
  if (hovered_) return layout_.node_of_lane(*timeline_, hovered_->lane);
  if (selected_) return layout_.node_of_lane(*timeline_, selected_->lane);
  const auto row = row_at(plot().top());
  if (!row) return std::nullopt;
  const TimelineLayout::Row top = layout_.row(*row);
  return top.is_node ? top.index : layout_.node_of_lane(*timeline_, top.index);
}

void TimelineView::collapse(std::size_t node, bool collapsed) {
  if (layout_.is_collapsed(node) == collapsed) return;
  layout_.collapse(*timeline_, node, collapsed);
  rows_changed();
  const double top = row_top(layout_.row_of_node(node));
  if (top < plot().top()) scroll_lanes(top - plot().top());
}

void TimelineView::collapse_all(bool collapsed) {
  layout_.collapse_all(*timeline_, collapsed);
  rows_changed();
}

void TimelineView::rows_changed() {
  hovered_.reset();
  hovered_node_.reset();
  scroll_lanes(0);
  if (on_change) on_change();
}

void TimelineView::paint_row(QPainter& painter, std::size_t row, double top) {
  const QRectF area(plot().left(), top + 1, plot().width(), row_height() - 2);
  const TimelineLayout::Row what = layout_.row(row);
  if (what.is_node) {
    paint_node(painter, what.index, area);
  } else {
    paint_lane(painter, what.index, area);
  }
  paint_title(painter, row, top);
}

void TimelineView::paint_node(QPainter& painter, std::size_t node, const QRectF& area) {
  const TimeWindow seen = window();
  row_.fill_node(*timeline_, node, seen);
  QImage stacks(seen.columns, std::max(static_cast<int>(area.height()), 1), QImage::Format_RGB32);
  stack_columns(row_.shares(), filter_.is_active(), stacks);
  painter.drawImage(QRectF(area.left(), area.top(), seen.columns, area.height()), stacks);
}

void TimelineView::paint_title(QPainter& painter, std::size_t row, double top) const {
  const TimelineLayout::Row what = layout_.row(row);
  const bool grouped = !timeline_->nodes.empty();
  const bool below_another =
      row > 0 && !what.is_node && !layout_.row(row - 1).is_node &&
      timeline_->lanes[what.index].rank == timeline_->lanes[layout_.row(row - 1).index].rank;
  painter.setPen(below_another ? theme().muted : theme().text);
  const double indent = 4 + (grouped ? kTitleIndent : 0);
  const std::string title = what.is_node ? timeline_->node_title(what.index) : timeline_->lane_title(what.index);
  painter.drawText(QRectF(indent, top, plot().left() - indent - 6, row_height()), Qt::AlignLeft | Qt::AlignVCenter,
                   QString::fromStdString(title));
  if (what.is_node) {
    const QString sign = layout_.is_collapsed(what.index) ? QStringLiteral("▸") : QStringLiteral("▾");
    painter.drawText(QRectF(3, top, kTitleIndent, row_height()), Qt::AlignLeft | Qt::AlignVCenter, sign);
  }
  if (row == 0 || below_another) return;
  painter.setPen(theme().border);
  painter.drawLine(QPointF(0, top), QPointF(width(), top));
}

QString TimelineView::tip_of_node(std::size_t node, double at_ns) const {
  const TimelineNode& own = timeline_->nodes[node];
  TimelineRow row;
  const TimeWindow seen = window();
  const double half = seen.ns_per_column() / 2;
  row.fill_node(*timeline_, node, {at_ns - half, at_ns + half, 1});
  QString text = QString::fromStdString(timeline_->node_title(node));
  if (own.ranks > 1 && own.last_rank - own.first_rank + 1 == own.ranks)
    text = QStringLiteral("node %1: mean of ranks %2 to %3").arg(own.node).arg(own.first_rank).arg(own.last_rank);
  QStringList parts;
  double rest = 1;
  for (int kind = 0; kind < kSpanKindCount; ++kind) {
    const double share = std::min(static_cast<double>(row.shares()[static_cast<std::size_t>(kind)]), rest);
    rest -= share;
    if (share < 0.005) continue;
    const std::string_view name = to_string(static_cast<SpanKind>(kind));
    parts << QStringLiteral("%1 %2%")
                 .arg(QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())).replace(QLatin1Char('_'), QLatin1Char(' ')))
                 .arg(100 * share, 0, 'f', 0);
  }
  if (rest >= 0.005) parts << QStringLiteral("nothing recorded %1%").arg(100 * rest, 0, 'f', 0);
  return text + QLatin1Char('\n') + parts.join(QStringLiteral(", ")) +
         (layout_.is_collapsed(node) ? QStringLiteral("\nclick: expand") : QStringLiteral("\nclick: collapse"));
}

}  // namespace ddbench::gui
