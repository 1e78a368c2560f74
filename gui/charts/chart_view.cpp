#include "gui/charts/chart_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "reports/chart/chart_alt_text.h"

namespace ddbench::gui {
namespace {

constexpr double kZoomStep = 1.5;
constexpr double kMostZoom = 1000;
constexpr double kReach = 14;  ///< pixels from which a mark answers

AxisRange zoomed(AxisRange range, AxisRange whole, double factor, double share) {
  const double size = std::clamp((range.high - range.low) / factor, (whole.high - whole.low) / kMostZoom,
                                 whole.high - whole.low);
  const double fixed = range.low + share * (range.high - range.low);
  double low = fixed - share * size;
  low = std::clamp(low, whole.low, whole.high - size);
  return {low, low + size};
}

AxisRange moved(AxisRange range, AxisRange whole, double share) {
  const double size = range.high - range.low;
  const double low = std::clamp(range.low + share * size, whole.low, whole.high - size);
  return {low, low + size};
}

}  // namespace

ChartView::ChartView(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void ChartView::set_figure(analyzer::Figure figure) {
  figure_ = std::move(figure);
  legend_ = reports::svg::make_chart(figure_).legend;
  setAccessibleName(QString::fromStdString(figure_.title));
  current_ = -1;
  zoomed_ = false;
  rebuild();
}

void ChartView::set_hidden(std::set<std::string> series) {
  hidden_ = std::move(series);
  current_ = -1;
  rebuild();
}

void ChartView::rebuild() {
  // Emptied rather than removed: the others keep their colours.
  analyzer::Figure shown = figure_;
  for (analyzer::Series& series : shown.series) {
    if (hidden_.count(reports::svg::display_name(series.name)) != 0) series.points.clear();
  }
  chart_ = reports::svg::make_chart(shown);
  setAccessibleDescription(QString::fromStdString(reports::svg::describe(shown, chart_)));
  if (!zoomed_) x_ = whole_x(chart_), y_ = whole_y(chart_);
  lay_out();
  if (on_zoom) on_zoom();
}

void ChartView::lay_out() {
  frame_ = lay_out_frame(chart_, QRectF(rect()).adjusted(4, 2, -4, -2), x_, y_);
  spots_ = spots_of(chart_, frame_);
  if (current_ >= static_cast<int>(spots_.size())) current_ = -1;
  update();
}

void ChartView::set_ranges(AxisRange x, AxisRange y) {
  if (chart_.empty() || !chart_.bands.empty()) return;
  x_ = x;
  y_ = y;
  const AxisRange all_x = whole_x(chart_);
  const AxisRange all_y = whole_y(chart_);
  zoomed_ =
      x.high - x.low < (all_x.high - all_x.low) * 0.999 || y.high - y.low < (all_y.high - all_y.low) * 0.999;
  current_ = -1;
  lay_out();
  if (on_zoom) on_zoom();
}

void ChartView::zoom(double factor, std::optional<QPointF> about) {
  const QPointF at = about.value_or(frame_.plot.center());
  const double share_x = std::clamp((at.x() - frame_.plot.left()) / frame_.plot.width(), 0.0, 1.0);
  const double share_y = std::clamp((frame_.plot.bottom() - at.y()) / frame_.plot.height(), 0.0, 1.0);
  set_ranges(zoomed(x_, whole_x(chart_), factor, share_x), zoomed(y_, whole_y(chart_), factor, share_y));
}

void ChartView::move(double share_x, double share_y) {
  set_ranges(moved(x_, whole_x(chart_), share_x), moved(y_, whole_y(chart_), share_y));
}

void ChartView::show_all() {
  set_ranges(whole_x(chart_), whole_y(chart_));
}

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

void ChartView::paint_empty(QPainter& painter) const {
  const std::string why = !hidden_.empty()        ? "All series are hidden: choose some in the legend."
                          : figure_.notes.empty() ? "Nothing to show."
                                                  : figure_.notes.front();
  painter.setFont(font_of(13));
  painter.setPen(theme().muted);
  painter.drawText(QRectF(rect()).adjusted(32, 8, -32, -8), Qt::AlignCenter | Qt::TextWordWrap,
                   QString::fromStdString(why));
}

void ChartView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  if (chart_.empty()) {
    paint_empty(painter);
  } else {
    paint_chart(painter, chart_, frame_);
    if (drag_from_) {
      QColor fill = theme().accent;
      fill.setAlphaF(0.15F);
      painter.setPen(theme().accent);
      painter.setBrush(fill);
      painter.drawRect(QRectF(*drag_from_, drag_to_).normalized().intersected(frame_.plot));
    } else if (current_ >= 0) {
      paint_callout(painter, spots_[static_cast<std::size_t>(current_)], QRectF(rect()));
    }
  }
  if (hasFocus()) {
    painter.setPen(QPen(theme().accent, 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 6, 6);
  }
}

void ChartView::resizeEvent(QResizeEvent*) {
  lay_out();
}

void ChartView::mouseMoveEvent(QMouseEvent* event) {
  if (drag_from_) {
    drag_to_ = event->position();
    update();
    return;
  }
  const int found = spot_at(event->position());
  if (found == current_) return;
  current_ = found;
  setCursor(found >= 0 && on_click ? Qt::PointingHandCursor : Qt::ArrowCursor);
  update();
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
  update();
}

void ChartView::mouseDoubleClickEvent(QMouseEvent*) {
  show_all();
}

void ChartView::leaveEvent(QEvent*) {
  if (hasFocus()) return;
  current_ = -1;
  update();
}

void ChartView::wheelEvent(QWheelEvent* event) {
  // Without Ctrl the wheel scrolls the page.
  if (!(event->modifiers() & Qt::ControlModifier) || !chart_.bands.empty()) {
    event->ignore();
    return;
  }
  zoom(event->angleDelta().y() > 0 ? kZoomStep : 1 / kZoomStep, event->position());
  event->accept();
}

void ChartView::keyPressEvent(QKeyEvent* event) {
  const bool shift = event->modifiers() & Qt::ShiftModifier;
  const int last = static_cast<int>(spots_.size()) - 1;
  const auto step = [&](int by) {
    if (last < 0) return;
    current_ = current_ < 0 ? (by > 0 ? 0 : last) : std::clamp(current_ + by, 0, last);
    update();
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
      return update();
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (current_ >= 0 && on_click) return on_click(ChartSpot(spots_[static_cast<std::size_t>(current_)]));
      break;
    default: break;
  }
  QWidget::keyPressEvent(event);
}

}  // namespace ddbench::gui
