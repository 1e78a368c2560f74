#include "gui/charts/chart_view.h"

#include <QEvent>
#include <QGraphicsScene>
#include <QPainter>
#include <algorithm>
#include <utility>

#include "gui/charts/chart_series.h"
#include "gui/charts/theme.h"
#include "reports/chart/chart_alt_text.h"

namespace ddbench::gui {
namespace {

constexpr double kMostZoom = 1000;

/// The range of `size` from `low` on, moved into `whole`. Not std::clamp: rounding may have crossed its
/// bounds.
AxisRange within(AxisRange whole, double low, double size) {
  low = std::max(whole.low, std::min(low, whole.high - size));
  return {low, low + size};
}

AxisRange zoomed(AxisRange range, AxisRange whole, double factor, double share) {
  const double size = std::clamp((range.high - range.low) / factor, (whole.high - whole.low) / kMostZoom,
                                 whole.high - whole.low);
  const double fixed = range.low + share * (range.high - range.low);
  return within(whole, fixed - share * size, size);
}

AxisRange moved(AxisRange range, AxisRange whole, double share) {
  const double size = range.high - range.low;
  return within(whole, range.low + share * size, size);
}

bool stands_on_zero(const analyzer::Series& series) {
  return series.shape != analyzer::SeriesShape::kLine && series.shape != analyzer::SeriesShape::kPoints;
}

/// True if positions have the same meaning in both charts; units follow from the values.
bool same_scales(const reports::svg::Chart& a, const reports::svg::Chart& b) {
  return a.x_title == b.x_title && a.y_title == b.y_title && a.log_x == b.log_x && a.log_y == b.log_y &&
         a.bands.empty() && b.bands.empty() && !a.empty() && !b.empty();
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
  connect(scene(), &QGraphicsScene::changed, this, [this] { picture_ = QPixmap(); });
}

void ChartView::set_figure(analyzer::Figure figure) {
  zoomed_ = zoomed_ && figure.title == figure_.title;
  figure_ = std::move(figure);
  const reports::svg::Chart whole = reports::svg::make_chart(figure_);
  legend_ = whole.legend;
  whole_is_empty_ = whole.empty();
  setAccessibleName(QString::fromStdString(figure_.title));
  current_ = -1;
  rebuild();
  if (!zoomed_) return;
  shows_a_value(x_, y_) ? keep_zoom(x_, y_) : show_all();
}

void ChartView::show_like(const ChartView& other) {
  hidden_ = other.hidden_;
  log_x_ = other.log_x_;
  log_y_ = other.log_y_;
  set_figure(other.figure_);
  if (other.zoomed_) keep_zoom(other.x_, other.y_);
}

void ChartView::set_hidden(std::set<std::string> series) {
  hidden_ = std::move(series);
  current_ = -1;
  rebuild();
}

bool ChartView::can_switch_x() const {
  if (whole_is_empty_) return false;
  for (const auto& series : figure_.series) {
    if (stands_on_zero(series)) return false;
    for (const auto& point : series.points) {
      if (!(point.x > 0) || !point.label.empty()) return false;
    }
  }
  return true;
}

bool ChartView::can_switch_y() const {
  if (whole_is_empty_) return false;
  for (const auto& series : figure_.series) {
    if (stands_on_zero(series)) return false;
    for (const auto& point : series.points) {
      if (!(point.y > 0)) return false;
    }
  }
  return true;
}

void ChartView::set_log_x(bool logarithmic) {
  log_x_ = logarithmic;
  zoomed_ = false;
  share_crosshair(std::nullopt);
  rebuild();
}

void ChartView::set_log_y(bool logarithmic) {
  log_y_ = logarithmic;
  zoomed_ = false;
  rebuild();
}

analyzer::Figure ChartView::shown_figure() const {
  analyzer::Figure shown = figure_;
  // Emptied rather than removed, so that the other series keep their colours.
  for (analyzer::Series& series : shown.series) {
    const bool hidden = hidden_.count(reports::svg::display_name(series.name)) != 0;
    if (hidden && !legend_.empty()) series.points.clear();  // without a legend it could not be shown again
  }
  if (log_x_ && can_switch_x()) shown.x.logarithmic = *log_x_;
  if (log_y_ && can_switch_y()) shown.y.logarithmic = *log_y_;
  return shown;
}

void ChartView::rebuild() {
  const analyzer::Figure shown = shown_figure();
  const reports::svg::Chart before = std::exchange(chart_, reports::svg::make_chart(shown));
  setAccessibleDescription(QString::fromStdString(reports::svg::describe(shown, chart_)));
  if (!same_scales(before, chart_)) {
    zoomed_ = false;
    crosshair_.reset();
  }
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
  picture_ = QPixmap();
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

bool ChartView::shows_a_value(AxisRange x, AxisRange y) const {
  const auto holds = [](AxisRange range, double position) {
    return position >= range.low && position <= range.high;
  };
  for (const auto& line : chart_.lines) {
    for (const auto& mark : line.marks) {
      if (holds(x, position_of(mark.x, chart_.log_x)) && holds(y, position_of(mark.y, chart_.log_y)))
        return true;
    }
  }
  return false;
}

void ChartView::keep_zoom(AxisRange x, AxisRange y) {
  const auto kept = [](AxisRange range, AxisRange whole) {
    return within(whole, range.low, std::min(range.high - range.low, whole.high - whole.low));
  };
  set_ranges(kept(x, whole_x(chart_)), kept(y, whole_y(chart_)));
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
  const std::string why = !whole_is_empty_        ? "All series are hidden: choose some in the legend."
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
  chart_.empty() ? paint_empty(*painter) : paint_overlay(*painter, chart_, frame_);
}

void ChartView::paint_pointer(QPainter& painter) const {
  if (!chart_.empty() && drag_from_) {
    QColor fill = theme().accent;
    fill.setAlphaF(0.15F);
    painter.setPen(theme().accent);
    painter.setBrush(fill);
    painter.drawRect(QRectF(*drag_from_, drag_to_).normalized().intersected(frame_.plot));
  } else if (!chart_.empty()) {
    if (crosshair_) paint_crosshair(painter, frame_, *crosshair_);
    if (current_ >= 0) paint_callout(painter, spots_[static_cast<std::size_t>(current_)], QRectF(rect()));
  }
  if (hasFocus()) {
    painter.setPen(QPen(theme().accent, 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 6, 6);
  }
}

void ChartView::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  const double ratio = std::max(painter.deviceTransform().m11(), 1.0);  // an export is drawn larger
  const QSize pixels = (QSizeF(viewport()->size()) * ratio).toSize();
  if (picture_.size() != pixels) {
    QPixmap drawn(pixels);
    drawn.setDevicePixelRatio(ratio);
    drawn.fill(Qt::transparent);
    QPainter on_picture(&drawn);
    on_picture.setRenderHints(renderHints());
    render(&on_picture, QRectF(viewport()->rect()), viewport()->rect());
    on_picture.end();
    picture_ = std::move(drawn);
  }
  painter.drawPixmap(0, 0, picture_);
  painter.setRenderHint(QPainter::Antialiasing);
  paint_pointer(painter);
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
