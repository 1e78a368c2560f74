// Handling of pointer, wheel and keys in a chart.

#include <QKeyEvent>
#include <QLineF>
#include <QMouseEvent>
#include <algorithm>

#include "gui/charts/chart_view.h"

namespace ddbench::gui {
namespace {

constexpr double kZoomStep = 1.5;
constexpr double kReach = 14;  ///< pixels from which a mark answers

}  // namespace

int ChartView::spot_at(QPointF at) const {
  int found = -1;
  double nearest = kReach;
  for (std::size_t i = 0; i < spots_.size(); ++i) {
    if (spots_[i].is_bar) {
      if (spots_[i].area.adjusted(-1, -1, 1, 1).contains(at)) found = static_cast<int>(i);
      continue;
    }
    const double distance = QLineF(at, spots_[i].anchor).length();
    if (distance > nearest) continue;
    nearest = distance;
    found = static_cast<int>(i);
  }
  return found;
}

void ChartView::share_crosshair(std::optional<double> x_position) {
  for (ChartView* other : window()->findChildren<ChartView*>()) {
    const bool same = other == this ||
                      (other->figure_.x.label == figure_.x.label && other->figure_.x.unit == figure_.x.unit &&
                       other->chart_.log_x == chart_.log_x && other->chart_.bands.empty());
    const std::optional<double> shown = same && other->isVisible() ? x_position : std::nullopt;
    if (other->crosshair_ == shown) continue;
    other->crosshair_ = shown;
    other->redraw();
  }
}

void ChartView::mouseMoveEvent(QMouseEvent* event) {
  if (drag_from_) {
    drag_to_ = event->position();
    redraw();
    return;
  }
  if (chart_.bands.empty() && !chart_.empty()) {
    const double share = (event->position().x() - frame_.plot.left()) / frame_.plot.width();
    const bool inside = frame_.plot.contains(event->position());
    share_crosshair(inside ? std::optional(x_.low + share * (x_.high - x_.low)) : std::nullopt);
  }
  const int found = spot_at(event->position());
  if (found == current_) return;
  current_ = found;
  viewport()->setCursor(found >= 0 && on_click ? Qt::PointingHandCursor : Qt::ArrowCursor);
  redraw();
}

void ChartView::mousePressEvent(QMouseEvent* event) {
  setFocus(Qt::MouseFocusReason);
  if (event->button() == Qt::LeftButton && chart_.bands.empty() && frame_.plot.contains(event->position())) {
    drag_from_ = drag_to_ = event->position();
  }
}

void ChartView::mouseReleaseEvent(QMouseEvent* event) {
  const QRectF box =
      drag_from_ ? QRectF(*drag_from_, drag_to_).normalized().intersected(frame_.plot) : QRectF();
  drag_from_.reset();
  if (box.width() > 8 && box.height() > 8) {
    const auto part = [](AxisRange range, double from, double to) {
      const double size = range.high - range.low;
      return AxisRange{range.low + from * size, range.low + to * size};
    };
    const QRectF plot = frame_.plot;
    set_ranges(
        part(x_, (box.left() - plot.left()) / plot.width(), (box.right() - plot.left()) / plot.width()),
        part(y_, (plot.bottom() - box.bottom()) / plot.height(),
             (plot.bottom() - box.top()) / plot.height()));
    return;
  }
  const int found = spot_at(event->position());
  if (found >= 0 && on_click && event->button() == Qt::LeftButton) {
    const ChartSpot spot = spots_[static_cast<std::size_t>(found)];
    on_click(spot);
    return;
  }
  redraw();
}

void ChartView::mouseDoubleClickEvent(QMouseEvent*) {
  show_all();
}

/// Pages that are not seen keep no pictures.
void ChartView::hideEvent(QHideEvent* event) {
  picture_ = QPixmap();
  QChartView::hideEvent(event);
}

void ChartView::leaveEvent(QEvent*) {
  share_crosshair(std::nullopt);
  if (hasFocus()) return;
  current_ = -1;
  redraw();
}

void ChartView::wheelEvent(QWheelEvent* event) {
  const bool closer = event->angleDelta().y() > 0;
  // A chart that shows its whole range leaves the wheel to the page.
  if (!chart_.bands.empty() || chart_.empty() || !frame_.plot.contains(event->position()) ||
      (!closer && !zoomed_)) {
    event->ignore();
    return;
  }
  zoom(closer ? kZoomStep : 1 / kZoomStep, event->position());
  event->accept();
}

void ChartView::contextMenuEvent(QContextMenuEvent* event) {
  if (!on_menu) return QChartView::contextMenuEvent(event);
  const bool by_key = event->reason() == QContextMenuEvent::Keyboard;
  const int found = by_key ? current_ : spot_at(event->pos());
  on_menu(event->globalPos(),
          found < 0 ? std::nullopt : std::optional(spots_[static_cast<std::size_t>(found)].tip));
}

void ChartView::keyPressEvent(QKeyEvent* event) {
  const bool shift = event->modifiers() & Qt::ShiftModifier;
  const int last = static_cast<int>(spots_.size()) - 1;
  const auto step = [&](int by) {
    if (last < 0) return;
    current_ = current_ < 0 ? (by > 0 ? 0 : last) : std::clamp(current_ + by, 0, last);
    redraw();
  };
  switch (event->key()) {
    case Qt::Key_Right: return shift ? move(0.1, 0) : step(1);
    case Qt::Key_Left: return shift ? move(-0.1, 0) : step(-1);
    case Qt::Key_Up:
      if (shift) return move(0, 0.1);
      break;
    case Qt::Key_Down:
      if (shift) return move(0, -0.1);
      break;
    case Qt::Key_Plus:
    case Qt::Key_Equal: return zoom(kZoomStep);
    case Qt::Key_Minus: return zoom(1 / kZoomStep);
    case Qt::Key_Home: return show_all();
    case Qt::Key_Escape:
      if (current_ < 0) break;
      current_ = -1;
      return redraw();
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (current_ >= 0 && on_click) return on_click(ChartSpot(spots_[static_cast<std::size_t>(current_)]));
      break;
    default: break;
  }
  event->ignore();  // a scroll area would consume the keys that scroll the page
}

}  // namespace ddbench::gui
