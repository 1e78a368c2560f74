#include "gui/charts/chart_view.h"

#include <QEvent>
#include <QPainter>
#include <algorithm>

#include "gui/charts/chart_series.h"
#include "gui/charts/theme.h"
#include "reports/chart/chart_alt_text.h"

namespace ddbench::gui {
namespace {

constexpr double kMostZoom = 1000;

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

ChartView::ChartView(QWidget* parent) : QChartView(parent) {
  setFrameShape(QFrame::NoFrame);
  setBackgroundBrush(Qt::NoBrush);
  setRenderHint(QPainter::Antialiasing);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setViewportUpdateMode(QGraphicsView::FullViewportUpdate);
  viewport()->setAutoFillBackground(false);
  viewport()->setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  prepare_chart(*QChartView::chart());
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

bool ChartView::can_switch_x() const {
  if (chart_.empty() || !chart_.bands.empty()) return false;
  for (const auto& series : figure_.series) {
    for (const auto& point : series.points) {
      if (!(point.x > 0)) return false;
    }
  }
  return true;
}

bool ChartView::can_switch_y() const {
  if (chart_.empty()) return false;
  for (const auto& series : figure_.series) {
    const bool stands_on_zero =
        series.shape != analyzer::SeriesShape::kLine && series.shape != analyzer::SeriesShape::kPoints;
    if (stands_on_zero) return false;
    for (const auto& point : series.points) {
      if (!(point.y > 0)) return false;
    }
  }
  return true;
}

void ChartView::set_log_x(bool logarithmic) {
  log_x_ = logarithmic;
  zoomed_ = false;
  rebuild();
}

void ChartView::set_log_y(bool logarithmic) {
  log_y_ = logarithmic;
  zoomed_ = false;
  rebuild();
}

analyzer::Figure ChartView::shown_figure() const {
  analyzer::Figure shown = figure_;
  // Emptied rather than removed: the others keep their colours.
  for (analyzer::Series& series : shown.series) {
    if (hidden_.count(reports::svg::display_name(series.name)) != 0) series.points.clear();
  }
  if (log_x_) shown.x.logarithmic = *log_x_;
  if (log_y_) shown.y.logarithmic = *log_y_;
  return shown;
}

void ChartView::rebuild() {
  const analyzer::Figure shown = shown_figure();
  chart_ = reports::svg::make_chart(shown);
  setAccessibleDescription(QString::fromStdString(reports::svg::describe(shown, chart_)));
  if (!zoomed_) x_ = whole_x(chart_), y_ = whole_y(chart_);
  series_run_down_.reset();
  lay_out();
  if (on_zoom) on_zoom();
}

void ChartView::lay_out() {
  frame_ = lay_out_frame(chart_, QRectF(rect()).adjusted(4, 2, -4, -2), x_, y_);
  QChart& drawn = *QChartView::chart();
  drawn.setVisible(!chart_.empty());
  if (!chart_.empty() && frame_.plot.isValid()) {
    if (series_run_down_ != frame_.horizontal) set_series(drawn, chart_, frame_.horizontal);
    series_run_down_ = frame_.horizontal;
    set_axes(drawn, chart_, frame_);
  }
  spots_ = spots_of(chart_, frame_);
  if (current_ >= static_cast<int>(spots_.size())) current_ = -1;
  redraw();
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

void ChartView::paint_empty(QPainter& painter) const {
  const std::string why = !hidden_.empty()        ? "All series are hidden: choose some in the legend."
                          : figure_.notes.empty() ? "Nothing to show."
                                                  : figure_.notes.front();
  painter.setFont(font_of(13));
  painter.setPen(theme().muted);
  painter.drawText(QRectF(rect()).adjusted(32, 8, -32, -8), Qt::AlignCenter | Qt::TextWordWrap,
                   QString::fromStdString(why));
}

void ChartView::drawBackground(QPainter* painter, const QRectF&) {
  if (!chart_.empty()) paint_intervals(*painter, chart_, frame_);
}

void ChartView::drawForeground(QPainter* painter, const QRectF&) {
  if (chart_.empty()) {
    paint_empty(*painter);
  } else {
    paint_overlay(*painter, chart_, frame_);
    if (drag_from_) {
      QColor fill = theme().accent;
      fill.setAlphaF(0.15F);
      painter->setPen(theme().accent);
      painter->setBrush(fill);
      painter->drawRect(QRectF(*drag_from_, drag_to_).normalized().intersected(frame_.plot));
    } else {
      if (crosshair_) paint_crosshair(*painter, frame_, *crosshair_);
      if (current_ >= 0) paint_callout(*painter, spots_[static_cast<std::size_t>(current_)], QRectF(rect()));
    }
  }
  if (hasFocus()) {
    painter->setPen(QPen(theme().accent, 2));
    painter->setBrush(Qt::NoBrush);
    painter->drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 6, 6);
  }
}

void ChartView::resizeEvent(QResizeEvent* event) {
  QChartView::resizeEvent(event);
  lay_out();
}

void ChartView::changeEvent(QEvent* event) {
  QChartView::changeEvent(event);
  // Series have the colours of the theme in them.
  if (event->type() == QEvent::PaletteChange) {
    QMetaObject::invokeMethod(
        this, [this] { rebuild(); }, Qt::QueuedConnection);
  }
}

}  // namespace ddbench::gui
