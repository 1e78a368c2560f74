#include "gui/charts/chart_series.h"

#include <QFontMetricsF>
#include <QGraphicsLayout>
#include <QtCharts/QAreaSeries>
#include <QtCharts/QCategoryAxis>
#include <QtCharts/QLineSeries>
#include <QtCharts/QScatterSeries>
#include <algorithm>
#include <map>

#include "gui/charts/ink_shapes.h"
#include "gui/charts/theme.h"

namespace ddbench::gui {
namespace {

using reports::svg::Bar;
using reports::svg::Chart;
using reports::svg::Line;
using reports::svg::Mark;

constexpr int kMarkerPx = 14;
constexpr float kBandOpacity = 0.18F;
constexpr std::size_t kBarsOfArea = 16;  ///< a wider area is slow: each line of pixels crosses all its edges

/// Qt's axes grow upwards, rows of bars run down the page.
QPointF place(double x, double y, bool horizontal) {
  return horizontal ? QPointF(y, -x) : QPointF(x, y);
}

QPointF place(const Chart& content, const Mark& mark, double y) {
  const double x = content.bands.empty() ? position_of(mark.x, content.log_x) : mark.x;
  return place(x, position_of(y, content.log_y), false);
}

QCategoryAxis* axis_of(const QChart& chart, Qt::Orientation orientation) {
  return static_cast<QCategoryAxis*>(chart.axes(orientation).front());
}

void add(QChart& chart, QAbstractSeries* series) {
  chart.addSeries(series);
  series->attachAxis(axis_of(chart, Qt::Horizontal));
  series->attachAxis(axis_of(chart, Qt::Vertical));
}

/// The area between two lines of points. The chart owns it, it owns its lines.
void add_area(QChart& chart, const QList<QPointF>& upper, const QList<QPointF>& lower, const QBrush& fill) {
  auto* area = new QAreaSeries;
  auto* top = new QLineSeries(area);
  auto* bottom = new QLineSeries(area);
  top->replace(upper);
  bottom->replace(lower);
  area->setUpperSeries(top);
  area->setLowerSeries(bottom);
  area->setPen(Qt::NoPen);
  area->setBrush(fill);
  add(chart, area);
}

/// One area holds all bars of one ink, whether stacked, grouped or floating: between two bars its upper and
/// its lower line coincide.
void add_bars(QChart& chart, const Chart& content, bool horizontal) {
  const double log_base = content.log_y ? whole_y(content).low : 0;
  std::map<const reports::Ink*, std::vector<const Bar*>> by_ink;
  for (const Bar& bar : content.bars) by_ink[bar.ink].push_back(&bar);
  for (auto& [ink, bars] : by_ink) {
    std::sort(bars.begin(), bars.end(),
              [](const Bar* a, const Bar* b) { return span_of(*a).begin < span_of(*b).begin; });
    const QBrush fill = fill_brush(*ink, theme());
    QList<QPointF> upper;
    QList<QPointF> lower;
    for (std::size_t i = 0; i < bars.size(); ++i) {
      const Bar* bar = bars[i];
      const BarSpan span = span_of(*bar);
      const double from = content.log_y ? log_base : bar->from;
      const double to = position_of(bar->to, content.log_y);
      upper << place(span.begin, from, horizontal) << place(span.begin, to, horizontal)
            << place(span.end, to, horizontal) << place(span.end, from, horizontal);
      lower << place(span.begin, from, horizontal) << place(span.end, from, horizontal);
      if (i + 1 < bars.size() && (i + 1) % kBarsOfArea != 0) continue;
      add_area(chart, upper, lower, fill);
      upper.clear();
      lower.clear();
    }
  }
}

void add_interval_band(QChart& chart, const Chart& content, const Line& line, QColor color) {
  QList<QPointF> upper;
  QList<QPointF> lower;
  for (const Mark& mark : line.marks) {
    if (!mark.interval) continue;
    upper << place(content, mark, mark.interval->high);
    lower << place(content, mark, mark.interval->low);
  }
  if (upper.size() < 2) return;
  color.setAlphaF(kBandOpacity);
  add_area(chart, upper, lower, color);
}

QImage marker_image(const reports::Ink& ink, const QColor& color) {
  constexpr int kScale = 4;
  QImage image(kMarkerPx * kScale, kMarkerPx * kScale, QImage::Format_ARGB32_Premultiplied);
  image.fill(Qt::transparent);
  QPainter painter(&image);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.scale(kScale, kScale);
  draw_marker(painter, ink, {kMarkerPx / 2.0, kMarkerPx / 2.0}, color);
  return image;
}

void add_line(QChart& chart, const Chart& content, const Line& line) {
  const QColor color = theme().ink(*line.ink);
  const bool many = line.is_dense(kMostMarkers);
  if (many) add_interval_band(chart, content, line, color);
  QList<QPointF> points;
  for (const Mark& mark : line.marks) points << place(content, mark, mark.y);
  const bool joined = line.joined && points.size() > 1;
  if (joined) {
    auto* series = new QLineSeries;
    series->setPen(QPen(color, many ? 1.8 : 2.2, line.ink->dashed ? Qt::DashLine : Qt::SolidLine,
                        Qt::RoundCap, Qt::RoundJoin));
    series->replace(points);
    add(chart, series);
  }
  if (many || (joined && line.ink->dashed)) return;
  auto* marks = new QScatterSeries;
  marks->setMarkerSize(kMarkerPx);
  marks->setLightMarker(marker_image(*line.ink, color));
  marks->replace(points);
  add(chart, marks);
}

void style(QCategoryAxis& axis) {
  axis.setLabelsPosition(QCategoryAxis::AxisLabelsPositionOnValue);
  axis.setTruncateLabels(false);
  axis.setLabelsFont(font_of(kChartLabelPx));
  axis.setTitleFont(font_of(kChartLabelPx));
  axis.setLabelsColor(theme().muted);
  axis.setTitleBrush(theme().muted);
  axis.setGridLinePen(QPen(theme().grid, 1));
  axis.setLinePen(QPen(theme().muted, 1));
}

/// Qt Charts interprets texts as HTML.
QString title_text(const std::string& title, double room) {
  const QFontMetricsF metrics(font_of(kChartLabelPx));
  return metrics.elidedText(QString::fromStdString(title), Qt::ElideRight, room).toHtmlEscaped();
}

/// As HTML. Qt requires unique axis labels; run names are not unique.
QString unique(const QString& label, const QStringList& others) {
  QString text = label.toHtmlEscaped();
  while (others.contains(text)) text += QChar(0x200b);  // has no width
  return text;
}

/// `ticks` ascend.
void set_axis(QCategoryAxis& axis, AxisRange range, const std::vector<AxisTick>& ticks) {
  {
    const QSignalBlocker one_layout(axis);
    for (const QString& label : axis.categoriesLabels()) axis.remove(label);
    axis.setStartValue(range.low);
    QStringList labels;
    for (const AxisTick& tick : ticks) {
      labels << unique(tick.text, labels);
      axis.append(labels.back(), tick.position);
    }
  }
  Q_EMIT axis.categoriesChanged();
  axis.setRange(range.low, range.high);
}

}  // namespace

void prepare_chart(QChart& chart) {
  chart.legend()->hide();
  chart.setMargins(QMargins());
  chart.setBackgroundVisible(false);
  chart.setAnimationOptions(QChart::NoAnimation);
  chart.addAxis(new QCategoryAxis, Qt::AlignBottom);
  chart.addAxis(new QCategoryAxis, Qt::AlignLeft);
}

void set_series(QChart& chart, const Chart& content, bool horizontal) {
  chart.removeAllSeries();
  style(*axis_of(chart, Qt::Horizontal));
  style(*axis_of(chart, Qt::Vertical));
  add_bars(chart, content, horizontal);
  for (const Line& line : content.lines) add_line(chart, content, line);
}

void set_axes(QChart& chart, const Chart& content, const ChartFrame& frame) {
  chart.setPlotArea(frame.plot);
  QCategoryAxis& x = *axis_of(chart, frame.horizontal ? Qt::Vertical : Qt::Horizontal);
  QCategoryAxis& y = *axis_of(chart, frame.horizontal ? Qt::Horizontal : Qt::Vertical);
  const bool has_bands = !content.bands.empty();
  std::vector<AxisTick> x_ticks = has_bands ? shown_bands(frame) : frame.x_ticks;
  AxisRange x_range = frame.x;
  if (frame.horizontal) {
    x_range = {-frame.x.high, -frame.x.low};
    std::reverse(x_ticks.begin(), x_ticks.end());
    for (AxisTick& tick : x_ticks) tick.position = -tick.position;
  }
  x.setGridLineVisible(!has_bands);
  y.setGridLineVisible(true);
  x.setLabelsVisible(!frame.paints_band_labels());
  y.setLabelsVisible(true);
  const bool has_x_title = !frame.horizontal && !frame.turned_labels;
  x.setTitleText(has_x_title ? title_text(content.x_title, frame.plot.width()) : QString());
  y.setTitleText(title_text(content.y_title, frame.horizontal ? frame.plot.width() : frame.plot.height()));
  set_axis(x, x_range, x_ticks);
  set_axis(y, frame.y, frame.y_ticks);
  // Axes follow the plot area only after the layout is recomputed.
  chart.layout()->invalidate();
  chart.layout()->activate();
}

}  // namespace ddbench::gui
