#pragma once

#include <QPixmap>
#include <QtCharts/QChartView>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/figure/figure.h"
#include "gui/charts/chart_overlay.h"

namespace ddbench::gui {

/// Draws a Figure with Qt Charts. Pointer: hover for value and interval, drag a box or turn the wheel to
/// zoom, double click to show all. Keyboard: Left and Right go from value to value, + and - zoom, Shift and
/// arrows move, Home shows all; other keys are the page's. Charts of a window whose x axes are the same share
/// a crosshair. Belongs to the GUI thread.
class ChartView : public QChartView {
 public:
  explicit ChartView(QWidget* parent = nullptr);

  /// A refreshed figure (same title, axes and units) stays zoomed where the zoom still shows a value.
  void set_figure(analyzer::Figure figure);
  /// The figure of `other` as it is drawn there: hidden series, scales and zoom.
  void show_like(const ChartView& other);
  const analyzer::Figure& figure() const noexcept { return figure_; }
  /// As drawn: hidden series have no points; axis scales are as the user set them.
  analyzer::Figure shown_figure() const;
  /// As drawn: without the hidden series.
  const reports::svg::Chart& chart() const noexcept { return chart_; }
  /// Not even with all series.
  bool nothing_to_draw() const noexcept { return whole_is_empty_; }
  /// All series, including hidden ones.
  const std::vector<reports::svg::LegendEntry>& legend() const noexcept { return legend_; }

  void set_hidden(std::set<std::string> series);
  const std::set<std::string>& hidden() const noexcept { return hidden_; }

  /// Whether the scale can be switched: requires a numeric axis with positive values, no labelled points (a
  /// linear axis turns them into bands), and no bars.
  bool can_switch_x() const;
  bool can_switch_y() const;
  /// Stays when the figure is refreshed; without effect while the figure's values do not allow it.
  void set_log_x(bool logarithmic);
  void set_log_y(bool logarithmic);

  /// Numeric charts only; ranges in positions.
  void zoom(double factor, std::optional<QPointF> about = std::nullopt);
  void show_all();
  bool is_zoomed() const noexcept { return zoomed_; }
  AxisRange x_range() const noexcept { return x_; }

  const std::vector<ChartSpot>& spots() const noexcept { return spots_; }
  /// Index of the spot whose value is shown, or -1.
  int current_spot() const noexcept { return current_; }
  /// Position on the x axis; empty if the pointer is in no chart with this axis.
  std::optional<double> crosshair() const noexcept { return crosshair_; }

  std::function<void()> on_zoom;
  /// A click on a spot, or Return on it.
  std::function<void(const ChartSpot&)> on_click;
  /// Called when the user requests a context menu, with the text of the spot there, if any.
  std::function<void(QPoint global, std::optional<QString> value)> on_menu;

  /// Two rows of charts with legends fit into a window of 1280 x 800. Layouts give it what room there is.
  QSize sizeHint() const override { return {420, 136}; }
  QSize minimumSizeHint() const override { return {240, 136}; }

 protected:
  void drawBackground(QPainter* painter, const QRectF& area) override;
  void drawForeground(QPainter* painter, const QRectF& area) override;
  /// Draws the picture of the whole chart, which is kept until the chart changes, and what follows the pointer.
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  void rebuild();
  void lay_out();
  bool shows_a_value(AxisRange x, AxisRange y) const;
  void set_ranges(AxisRange x, AxisRange y);
  void keep_zoom(AxisRange x, AxisRange y);
  void move(double share_x, double share_y);
  void share_crosshair(std::optional<double> x_position);
  void redraw() { viewport()->update(); }
  int spot_at(QPointF at) const;
  void paint_empty(QPainter& painter) const;
  void paint_pointer(QPainter& painter) const;

  analyzer::Figure figure_;
  reports::svg::Chart chart_;
  std::vector<reports::svg::LegendEntry> legend_;
  std::set<std::string> hidden_;
  std::optional<bool> log_x_;  ///< as the user switched it
  std::optional<bool> log_y_;
  bool whole_is_empty_ = true;
  AxisRange x_;
  AxisRange y_;
  bool zoomed_ = false;
  ChartFrame frame_;
  std::optional<bool> series_run_down_;  ///< how the series were built
  std::vector<ChartSpot> spots_;
  int current_ = -1;
  std::optional<double> crosshair_;
  std::optional<QPointF> drag_from_;
  QPointF drag_to_;
  QPixmap picture_;  ///< everything that does not follow the pointer; null: to be drawn
};

}  // namespace ddbench::gui
