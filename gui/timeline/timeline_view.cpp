#include "gui/timeline/timeline_view.h"

#include <QFontMetricsF>
#include <QKeyEvent>
#include <QMouseEvent>
#include <algorithm>
#include <cmath>

#include "gui/charts/theme.h"

namespace ddbench::gui {
namespace {

constexpr double kNarrowestGutter = 148;
constexpr double kAxisHeight = 40;
constexpr double kLowestRow = 15;
constexpr double kHighestRow = 46;
constexpr double kTimelineZoomStep = 1.25;
constexpr double kSpanReach = 3;  ///< pixels about a span that count as the span

}  // namespace

QString duration_text(double ns, double resolution_ns) {
  if (ns == 0) return QStringLiteral("0");
  struct Unit {
    double size;
    const char* name;
  };
  static constexpr Unit kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
  for (const Unit& unit : kUnits) {
    if (std::abs(ns) < unit.size && unit.size > 1) continue;
    const int decimals = std::clamp(
        static_cast<int>(std::ceil(std::log10(unit.size / std::max(resolution_ns, 1.0)) - 1e-9)), 0, 9);
    return QStringLiteral("%1 %2")
        .arg(ns / unit.size, 0, 'f', unit.size > 1 ? decimals : 0)
        .arg(QString::fromUtf8(unit.name));
  }
  return {};
}

TimelineView::TimelineView(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  setAccessibleName(QStringLiteral("Timeline of spans"));
}

void TimelineView::set_timeline(std::shared_ptr<const Timeline> timeline) {
  timeline_ = std::move(timeline);
  layout_.reset(*timeline_);
  selected_.reset();
  hovered_.reset();
  hovered_node_.reset();
  measured_.reset();
  filter_ = {};
  scroll_ = 0;
  measure_texts();
  QString rows = QStringLiteral("%1 spans on %2 lanes").arg(timeline_->spans).arg(timeline_->lanes.size());
  if (!timeline_->nodes.empty()) rows += QStringLiteral(" of %1 nodes").arg(timeline_->nodes.size());
  setAccessibleDescription(
      QStringLiteral("%1, %2 steps, %3 long")
          .arg(rows)
          .arg(timeline_->steps.size())
          .arg(duration_text(static_cast<double>(timeline_->end_ns - timeline_->begin_ns), 1e5)));
  show_measured_steps();
}

/// In the font of this window: it differs between machines.
void TimelineView::measure_texts() {
  gutter_width_ = kNarrowestGutter;
  const QFontMetricsF titles(font_of(kTitle_px));
  const auto make_room = [&](const std::string& title) {
    gutter_width_ = std::max(gutter_width_, titles.horizontalAdvance(QString::fromStdString(title)) + kTitleIndent + 14);
  };
  for (std::size_t lane = 0; lane < timeline_->lanes.size(); ++lane) make_room(timeline_->lane_title(lane));
  for (std::size_t node = 0; node < timeline_->nodes.size(); ++node) make_room(timeline_->node_title(node));
  name_widths_.clear();
  for (const std::string& name : timeline_->names)
    name_widths_.push_back(static_cast<float>(titles.horizontalAdvance(QString::fromStdString(name))));
}

/// Start and warm-up are long, and would press the steps together.
void TimelineView::show_measured_steps() {
  const auto first = std::find_if(
      timeline_->steps.begin(), timeline_->steps.end(),
      [&](const StepMark& mark) { return mark.step >= timeline_->first_measured; });
  if (first == timeline_->steps.end()) return show_all();
  show_window(static_cast<double>(first->begin_ns), static_cast<double>(timeline_->end_ns));
}

QRectF TimelineView::plot() const {
  return QRectF(gutter_width_, kAxisHeight, std::max(width() - gutter_width_ - 4, 1.0),
                std::max(height() - kAxisHeight - 4, 1.0));
}

TimeWindow TimelineView::window() const {
  return {begin_ns_, end_ns_, std::max(1, static_cast<int>(plot().width()))};
}

void TimelineView::show_window(double begin_ns, double end_ns) {
  const auto first = static_cast<double>(timeline_->begin_ns);
  const auto last = static_cast<double>(timeline_->end_ns);
  const double length = std::clamp(end_ns - begin_ns, std::min(kNarrowestWindow_ns, last - first), last - first);
  begin_ns_ = std::clamp((begin_ns + end_ns - length) / 2, first, last - length);
  end_ns_ = begin_ns_ + length;
  hovered_.reset();
  hovered_node_.reset();
  changed();
}

void TimelineView::show_all() {
  show_window(static_cast<double>(timeline_->begin_ns), static_cast<double>(timeline_->end_ns));
}

void TimelineView::zoom(double factor, double about_ns) {
  show_window(about_ns - (about_ns - begin_ns_) / factor, about_ns + (end_ns_ - about_ns) / factor);
}

void TimelineView::changed() {
  repaint_scene();
  if (on_change) on_change();
}

void TimelineView::repaint_scene() {
  scene_ = QPixmap();
  update();
}

double TimelineView::row_height() const {
  if (layout_.rows() == 0) return kHighestRow;
  return std::clamp(plot().height() / static_cast<double>(layout_.rows()), kLowestRow, kHighestRow);
}

double TimelineView::row_top(std::size_t row) const {
  return plot().top() + static_cast<double>(row) * row_height() - scroll_;
}

std::optional<std::size_t> TimelineView::row_at(double y) const {
  const double row = std::floor((y - plot().top() + scroll_) / row_height());
  if (y < plot().top() || y > plot().bottom() || row < 0 || row >= static_cast<double>(layout_.rows())) return std::nullopt;
  return static_cast<std::size_t>(row);
}

void TimelineView::scroll_lanes(double by) {
  const double all = row_height() * static_cast<double>(layout_.rows());
  scroll_ = std::clamp(scroll_ + by, 0.0, std::max(0.0, all - plot().height()));
  repaint_scene();
}

void TimelineView::select(std::optional<SpanPlace> place) {
  selected_ = place;
  update();
  if (on_change) on_change();
}

void TimelineView::measure(std::optional<Measurement> measurement) {
  measured_ = measurement;
  update();
  if (on_change) on_change();
}

QString TimelineView::measured_text() const {
  if (!measured_) return {};
  const auto length = static_cast<double>(std::abs(measured_->to_ns - measured_->from_ns));
  QString text = duration_text(length, std::max(1.0, length / 1000));
  if (timeline_->uncertainty_ns > 0) {
    text += QStringLiteral(" ± %1 between ranks")
                .arg(duration_text(2.0 * static_cast<double>(timeline_->uncertainty_ns), 100));
  }
  return text;
}

void TimelineView::resizeEvent(QResizeEvent*) {
  scroll_lanes(0);
}

void TimelineView::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) repaint_scene();
  QWidget::changeEvent(event);
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
  setFocus(Qt::MouseFocusReason);
  if (event->button() != Qt::LeftButton) return;
  if (const auto node = node_at(event->position().y()); node && event->position().x() < plot().left())
    return collapse(*node, !layout_.is_collapsed(*node));
  if (!plot().contains(event->position())) return;
  drag_from_ = event->position();
  dragged_ = false;
  measuring_ = event->modifiers() & Qt::ShiftModifier;
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
  const QPointF at = event->position();
  const TimeWindow seen = window();
  const auto time_of = [&](double x) { return seen.time_at(x - plot().left()); };
  if (!drag_from_) return hover(at);
  dragged_ |= (at - *drag_from_).manhattanLength() > 4;
  if (!dragged_) return;
  if (measuring_) {
    return measure(Measurement{static_cast<std::int64_t>(time_of(drag_from_->x())),
                               static_cast<std::int64_t>(time_of(at.x()))});
  }
  const double by = (drag_from_->x() - at.x()) * seen.ns_per_column();
  scroll_lanes(drag_from_->y() - at.y());
  drag_from_ = at;
  show_window(begin_ns_ + by, end_ns_ + by);
}

void TimelineView::hover(QPointF at) {
  hovered_.reset();
  hovered_node_.reset();
  const auto node = node_at(at.y());
  if (node) {
    setCursor(Qt::PointingHandCursor);
  } else {
    unsetCursor();
  }
  const auto row = plot().contains(at) ? row_at(at.y()) : std::nullopt;
  const TimeWindow seen = window();
  const double time = seen.time_at(at.x() - plot().left());
  if (row && node) hovered_node_ = NodePlace{*node, time};
  if (row && !node) {
    const auto place = span_at(*timeline_, layout_.row(*row).index, static_cast<std::int64_t>(time),
                               static_cast<std::int64_t>(kSpanReach * seen.ns_per_column()));
    if (place) hovered_ = *place;
  }
  update();
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
  const bool clicked = drag_from_ && !dragged_;
  drag_from_.reset();
  if (measuring_ && dragged_ && on_change) on_change();
  if (!clicked || event->button() != Qt::LeftButton) return;
  if (const auto node = node_at(event->position().y())) return collapse(*node, !layout_.is_collapsed(*node));
  const std::optional<SpanPlace> place = hovered_;
  hovered_.reset();
  select(place);
}

void TimelineView::leaveEvent(QEvent*) {
  hovered_.reset();
  hovered_node_.reset();
  update();
}

void TimelineView::wheelEvent(QWheelEvent* event) {
  const QPoint turned = event->angleDelta();
  const double by = turned.y() != 0 ? turned.y() : turned.x();
  if (event->modifiers() & Qt::AltModifier) {
    scroll_lanes(-by / 4);
  } else if ((event->modifiers() & Qt::ShiftModifier) || turned.y() == 0) {
    const double shift = -by / 1200 * (end_ns_ - begin_ns_);
    show_window(begin_ns_ + shift, end_ns_ + shift);
  } else {
    zoom(by > 0 ? kTimelineZoomStep : 1 / kTimelineZoomStep,
         window().time_at(event->position().x() - plot().left()));
  }
  event->accept();
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
  const double length = end_ns_ - begin_ns_;
  const double middle = begin_ns_ + length / 2;
  switch (event->key()) {
    case Qt::Key_Left: return show_window(begin_ns_ - length / 8, end_ns_ - length / 8);
    case Qt::Key_Right: return show_window(begin_ns_ + length / 8, end_ns_ + length / 8);
    case Qt::Key_Up: return scroll_lanes(-2 * row_height());
    case Qt::Key_Down: return scroll_lanes(2 * row_height());
    case Qt::Key_Plus:
    case Qt::Key_Equal: return zoom(2, middle);
    case Qt::Key_Minus: return zoom(0.5, middle);
    case Qt::Key_Home: return show_all();
    case Qt::Key_N: go_to_match(event->modifiers() & Qt::ShiftModifier); return;
    case Qt::Key_S: go_to_straggler(event->modifiers() & Qt::ShiftModifier); return;
    case Qt::Key_C: {
      if (event->modifiers() & Qt::ShiftModifier) return collapse_all(!layout_.any_collapsed());
      if (const auto node = current_node()) collapse(*node, !layout_.is_collapsed(*node));
      return;
    }
    case Qt::Key_M: {
      const auto at = static_cast<std::int64_t>(middle);
      return measure(measured_ ? Measurement{measured_->from_ns, at} : Measurement{at, at});
    }
    case Qt::Key_Escape: measured_.reset(); return select(std::nullopt);
    default: QWidget::keyPressEvent(event);
  }
}

}  // namespace ddbench::gui
