#pragma once

#include <QPixmap>
#include <QWidget>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "gui/timeline/timeline_row.h"
#include "gui/timeline/timeline_search.h"

namespace ddbench::gui {

/// Lanes of ranks over time, grouped by node. A node's own row shows the mean of its ranks: the height of a colour is
/// the share of ranks. Pointer: the wheel zooms, with Shift it moves through time, with Alt through the
/// lanes; a drag moves, a drag with Shift measures, a click selects a span, a click on a node's row collapses or
/// expands it. Keyboard: arrows move, + and - zoom, Home shows all, N and Shift+N go to the next and previous match,
/// S and Shift+S to stragglers, C collapses or expands a node and Shift+C all, M sets the ends of a measurement in
/// the middle, Escape clears. Paints the visible part from TimelineRow; spans have no widgets or items of
/// their own. Belongs to the GUI thread.
class TimelineView : public QWidget {
 public:
  static constexpr double kTitle_px = 11;  ///< the font's
  static constexpr double kTitleIndent = 12;  ///< of lanes below the title of their node
  static constexpr double kNarrowestWindow_ns = 50;

  explicit TimelineView(QWidget* parent = nullptr);

  void set_timeline(std::shared_ptr<const Timeline> timeline);
  const Timeline& timeline() const noexcept { return *timeline_; }

  TimeWindow window() const;
  /// Clamped to the recorded time; never narrower than 50 ns.
  void show_window(double begin_ns, double end_ns);
  void show_all();
  void zoom(double factor, double about_ns);

  /// Highlights what search_spans finds; returns how many names and kinds match. Empty: no highlighting.
  int search(const QString& text);
  bool go_to_match(bool backwards);
  /// Selects the next span with which a rank came last to a collective; false: there is none.
  bool go_to_straggler(bool backwards);
  /// What is known of the selected span as a straggler's; null: it is none.
  const Straggler* selected_straggler() const;

  const TimelineLayout& layout_of_rows() const noexcept { return layout_; }
  void collapse(std::size_t node, bool collapsed);
  void collapse_all(bool collapsed);
  /// Rows that the last drawing filled: not more than there is room for.
  int rows_drawn() const noexcept { return rows_drawn_; }

  void select(std::optional<SpanPlace> place);
  const std::optional<SpanPlace>& selected() const noexcept { return selected_; }

  struct Measurement {
    std::int64_t from_ns = 0;
    std::int64_t to_ns = 0;
  };
  void measure(std::optional<Measurement> measurement);
  const std::optional<Measurement>& measured() const noexcept { return measured_; }
  /// The pointer still moves an end of the measurement.
  bool is_measuring() const noexcept { return measuring_ && drag_from_.has_value(); }
  QString measured_text() const;

  std::function<void()> on_change;  ///< window, selection or measurement

  QSize sizeHint() const override { return {800, 420}; }
  QSize minimumSizeHint() const override { return {320, 200}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void show_measured_steps();
  QRectF plot() const;
  double row_height() const;
  double row_top(std::size_t row) const;
  double lane_top(std::size_t lane) const { return row_top(layout_.row_of_lane(lane)); }
  std::optional<std::size_t> row_at(double y) const;
  std::optional<std::size_t> node_at(double y) const;
  std::optional<std::size_t> current_node() const;
  void rows_changed();
  void measure_texts();
  void hover(QPointF at);
  void scroll_lanes(double by);
  std::int64_t look_from(bool backwards) const;
  void reveal(const SpanPlace& place);
  void repaint_scene();
  void paint_scene(QPainter& painter);
  void paint_row(QPainter& painter, std::size_t row, double top);
  void paint_lane(QPainter& painter, std::size_t lane, const QRectF& area);
  void paint_node(QPainter& painter, std::size_t node, const QRectF& area);
  void paint_title(QPainter& painter, std::size_t row, double top) const;
  void paint_wide(QPainter& painter, const TimelineRow::Wide& wide, bool has_inner, const QRectF& area) const;
  void paint_axis(QPainter& painter) const;
  void paint_steps(QPainter& painter) const;
  void paint_overlays(QPainter& painter) const;
  void paint_measurement(QPainter& painter) const;
  QString tip_of(const SpanPlace& place) const;
  QString tip_of_node(std::size_t node, double at_ns) const;
  QString shortened(std::uint32_t name, double room) const;
  QRectF area_of(const SpanPlace& place) const;
  void changed();

  std::shared_ptr<const Timeline> timeline_ = std::make_shared<const Timeline>();
  double begin_ns_ = 0;
  double end_ns_ = 1;
  TimelineLayout layout_;
  double scroll_ = 0;
  double gutter_width_ = 0;     ///< left of the plot: width of the widest title
  std::vector<float> name_widths_;  ///< in pixels, by name
  int rows_drawn_ = 0;
  SpanFilter filter_;
  std::optional<SpanPlace> selected_;
  std::optional<SpanPlace> hovered_;
  struct NodePlace {
    std::size_t node = 0;
    double at_ns = 0;
  };
  std::optional<NodePlace> hovered_node_;
  std::optional<Measurement> measured_;
  std::optional<QPointF> drag_from_;
  bool dragged_ = false;
  bool measuring_ = false;
  QPixmap scene_;  ///< everything that does not follow the pointer
  TimelineRow row_;
};

/// "12.3 µs", with the sign of the number and enough digits to distinguish neighbouring values on an axis.
QString duration_text(double ns, double resolution_ns);

}  // namespace ddbench::gui
