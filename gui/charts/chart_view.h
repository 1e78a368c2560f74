#pragma once

#include <QWidget>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/figure/figure.h"
#include "gui/charts/chart_painter.h"

namespace ddbench::gui {

/// Draws a Figure. Pointer: hover for value and interval, drag a box to zoom, Ctrl and wheel zoom too, a
/// double click shows all. Keyboard: Left and Right go from value to value, + and - zoom, Shift and arrows
/// move, Home shows all. Belongs to the GUI thread.
class ChartView : public QWidget {
 public:
  explicit ChartView(QWidget* parent = nullptr);

  void set_figure(analyzer::Figure figure);
  const analyzer::Figure& figure() const noexcept { return figure_; }
  /// As drawn: without the hidden series.
  const reports::svg::Chart& chart() const noexcept { return chart_; }
  /// Of all series, hidden ones too.
  const std::vector<reports::svg::LegendEntry>& legend() const noexcept { return legend_; }

  void set_hidden(std::set<std::string> series);
  const std::set<std::string>& hidden() const noexcept { return hidden_; }

  /// Numeric charts only; ranges in positions.
  void zoom(double factor, std::optional<QPointF> about = std::nullopt);
  void show_all();
  bool is_zoomed() const noexcept { return zoomed_; }
  AxisRange x_range() const noexcept { return x_; }

  const std::vector<ChartSpot>& spots() const noexcept { return spots_; }
  /// Index of the spot whose value is shown; -1: none.
  int current_spot() const noexcept { return current_; }

  std::function<void()> on_zoom;
  /// A click on a spot, or Return on it.
  std::function<void(const ChartSpot&)> on_click;

  QSize sizeHint() const override { return {420, 190}; }
  QSize minimumSizeHint() const override { return {240, 170}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void rebuild();
  void lay_out();
  void set_ranges(AxisRange x, AxisRange y);
  void move(double share_x, double share_y);
  int spot_at(QPointF at) const;
  void paint_empty(QPainter& painter) const;

  analyzer::Figure figure_;
  reports::svg::Chart chart_;
  std::vector<reports::svg::LegendEntry> legend_;
  std::set<std::string> hidden_;
  AxisRange x_;
  AxisRange y_;
  bool zoomed_ = false;
  ChartFrame frame_;
  std::vector<ChartSpot> spots_;
  int current_ = -1;
  std::optional<QPointF> drag_from_;
  QPointF drag_to_;
};

}  // namespace ddbench::gui
