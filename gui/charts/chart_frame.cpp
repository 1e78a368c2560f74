#include "gui/charts/chart_frame.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <set>

#include "gui/charts/theme.h"
#include "reports/chart/axis.h"

namespace ddbench::gui {
namespace {

using reports::svg::Chart;
using reports::svg::ValueAxis;

constexpr std::size_t kMostOwnTicks = 8;
constexpr double kTurnedRoom = 70;
constexpr double kRowHeight = 12.5;   ///< least of a labelled row
constexpr double kLeastPlot = 60;     ///< of columns over turned labels; below it, rows show more
constexpr double kTitleRoom = 22;
constexpr double kLabelRoom = 16;     ///< of labels below columns
constexpr double kValueRoom = 18;     ///< of a value above a bar
constexpr double kMarkerRoom = 0.03;  ///< share of the value axis, beyond marks at its end

double text_width(const QString& text) {
  static const QFontMetricsF kMetrics(font_of(kChartLabelPx));
  return kMetrics.horizontalAdvance(text);
}

/// Values that the value axis has to hold.
ValueAxis value_axis(const Chart& chart, int max_ticks) {
  double low = 1e300;
  double high = -1e300;
  const auto include = [&](double value) {
    if (chart.log_y && !(value > 0)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  };
  const auto include_interval = [&](const std::optional<reports::svg::Interval>& interval) {
    if (interval) include(interval->low), include(interval->high);
  };
  for (const auto& line : chart.lines) {
    for (const auto& mark : line.marks) include(mark.y), include_interval(mark.interval);
  }
  for (const auto& bar : chart.bars) include(bar.from), include(bar.to), include_interval(bar.interval);
  if (low > high) low = high = chart.log_y ? 1 : 0;
  return reports::svg::make_axis(
      {low, high, chart.log_y, low >= 0 || !chart.bars.empty(), max_ticks, chart.log_y_unit});
}

std::set<double> x_values(const Chart& chart) {
  std::set<double> values;
  for (const auto& line : chart.lines) {
    // Fitted curves are drawn through many places; the measured ones deserve the ticks.
    if (line.marks.size() > 2 * kMostOwnTicks && chart.lines.size() > 1) continue;
    for (const auto& mark : line.marks) values.insert(mark.x);
  }
  return values;
}

ValueAxis numeric_x_axis(const Chart& chart) {
  double low = 1e300;
  double high = -1e300;
  for (const auto& line : chart.lines) {
    for (const auto& mark : line.marks) low = std::min(low, mark.x), high = std::max(high, mark.x);
  }
  if (low > high) return reports::svg::make_axis({0, 1, false, true, 6, {}});
  if (low == high) return reports::svg::axis_at_values({low}, chart.log_x, chart.log_x_unit);
  return reports::svg::axis_at_values({low, high}, chart.log_x, chart.log_x_unit);
}

AxisRange range_of(const ValueAxis& axis) {
  return {position_of(axis.low, axis.logarithmic), position_of(axis.high, axis.logarithmic)};
}

/// Qt Charts clips drawing at the plot's edge: marks at an end would be cut in half.
AxisRange with_room_for_marks(const Chart& chart, AxisRange range) {
  AxisRange wide = range;
  const double room = kMarkerRoom * (range.high - range.low);
  for (const auto& line : chart.lines) {
    if (line.is_dense(kMostMarkers)) continue;  // it has no markers
    for (const auto& mark : line.marks) {
      const double position = position_of(mark.y, chart.log_y);
      wide.low = std::min(wide.low, position - room);
      wide.high = std::max(wide.high, position + room);
    }
  }
  return wide;
}

std::vector<AxisTick> ticks_within(const ValueAxis& axis, AxisRange range) {
  std::vector<AxisTick> ticks;
  const double slack = (range.high - range.low) * 1e-9;
  for (const auto& tick : axis.ticks) {
    const double position = position_of(tick.value, axis.logarithmic);
    if (position >= range.low - slack && position <= range.high + slack)
      ticks.push_back({position, QString::fromStdString(tick.text)});
  }
  return ticks;
}

std::vector<AxisTick> ticks_for(AxisRange range, bool logarithmic, const std::string& unit, int max_ticks) {
  const double low = logarithmic ? std::pow(10, range.low) : range.low;
  const double high = logarithmic ? std::pow(10, range.high) : range.high;
  auto ticks = ticks_within(reports::svg::make_axis({low, high, logarithmic, false, max_ticks, unit}), range);
  if (!logarithmic || ticks.size() > 2) return ticks;
  // Less than a decade: evenly spaced round numbers help more than the single power of ten in the range.
  ticks.clear();
  for (const auto& even :
       reports::svg::make_axis({low, high, false, false, std::min(max_ticks, 5), {}}).ticks) {
    if (!(even.value > 0)) continue;
    for (const AxisTick& tick : ticks_within(reports::svg::axis_at_values({even.value}, true, unit), range)) {
      if (std::abs(tick.position - std::log10(even.value)) < 1e-9) ticks.push_back(tick);
    }
  }
  return ticks;
}

bool meet(const AxisTick& left, const AxisTick& right, AxisRange range, double width) {
  const double apart = (range.share(right.position) - range.share(left.position)) * width;
  return apart <= (text_width(left.text) + text_width(right.text)) / 2 + 6;
}

/// Leaves out ticks whose labels would meet the one before.
std::vector<AxisTick> without_meeting(const std::vector<AxisTick>& ticks, AxisRange range, double width) {
  std::vector<AxisTick> kept;
  for (const AxisTick& tick : ticks) {
    if (kept.empty() || !meet(kept.back(), tick, range, width)) kept.push_back(tick);
  }
  return kept;
}

/// Ticks at the measured values where they are few and their labels do not meet.
std::vector<AxisTick> x_ticks(const Chart& chart, AxisRange range, double width) {
  const std::set<double> values = x_values(chart);
  if (!values.empty() && values.size() <= kMostOwnTicks) {
    const auto own = ticks_within(
        reports::svg::axis_at_values({values.begin(), values.end()}, chart.log_x, chart.log_x_unit), range);
    bool fits = own.size() > 1 || values.size() == 1;
    for (std::size_t i = 1; i < own.size(); ++i) fits &= !meet(own[i - 1], own[i], range, width);
    if (fits) return own;
  }
  return without_meeting(
      ticks_for(range, chart.log_x, chart.log_x_unit, std::clamp(static_cast<int>(width / 80), 2, 12)), range, width);
}

double widest(const std::vector<AxisTick>& ticks) {
  double width = 0;
  for (const AxisTick& tick : ticks) width = std::max(width, text_width(tick.text));
  return width;
}

std::vector<AxisTick> band_ticks(const Chart& chart) {
  std::vector<AxisTick> ticks;
  for (std::size_t i = 0; i < chart.bands.size(); ++i) {
    ticks.push_back({static_cast<double>(i), QString::fromStdString(chart.bands[i])});
  }
  return ticks;
}

std::size_t labels_every(double least_px, double band_px) {
  return static_cast<std::size_t>(std::max(1.0, std::ceil(least_px / band_px)));
}

void lay_out_rows(const Chart& chart, const QRectF& area, ChartFrame& frame) {
  double value_room = 0;
  for (const auto& label : chart.end_labels)
    value_room = std::max(value_room, text_width(QString::fromStdString(label.text)));
  frame.x_ticks = band_ticks(chart);
  frame.band_label_room = std::min(widest(frame.x_ticks), area.width() * 0.4);
  frame.plot = area.adjusted(frame.band_label_room + kTickGap, 4, -value_room - 14, -38);
  frame.y_ticks = ticks_for(frame.y, chart.log_y, chart.log_y_unit,
                            std::clamp(static_cast<int>(frame.plot.width() / 80), 2, 8));
  frame.label_every = labels_every(kRowHeight, frame.band_size());
}

void lay_out_columns(const Chart& chart, const QRectF& area, ChartFrame& frame) {
  frame.y_ticks = ticks_for(frame.y, chart.log_y, chart.log_y_unit,
                            std::clamp(static_cast<int>(area.height() / 44), 2, 9));
  const double left = widest(frame.y_ticks) + kTickGap + (chart.y_title.empty() ? 0 : kTitleRoom);
  const double below = chart.x_title.empty() ? kLabelRoom : kLabelRoom + kTitleRoom;
  frame.plot = area.adjusted(left, chart.end_labels.empty() ? 10 : kValueRoom, -14, -below);
  if (chart.bands.empty()) {
    frame.x_ticks = x_ticks(chart, frame.x, frame.plot.width());
    if (!frame.x_ticks.empty()) {  // the last label may reach beyond the plot
      const AxisTick& last = frame.x_ticks.back();
      const double beyond =
          frame.at(last.position, frame.y.low).x() + text_width(last.text) / 2 - area.right();
      frame.plot.setRight(frame.plot.right() - std::max(0.0, beyond + 2));
    }
    return;
  }
  frame.x_ticks = band_ticks(chart);
  frame.band_label_room = frame.band_size() - 6;
  if (widest(frame.x_ticks) > frame.band_label_room) {
    frame.turned_labels = true;
    frame.band_label_room = std::min(widest(frame.x_ticks), kTurnedRoom * 1.4);
    frame.plot.setBottom(area.bottom() - 22 - frame.band_label_room * 0.71 - 10);
    frame.plot.setLeft(
        std::max(frame.plot.left(), area.left() + frame.band_label_room * 0.75 - frame.band_size() / 2));
    frame.label_every = labels_every(15, frame.band_size());
  }
}

}  // namespace

double position_of(double value, bool logarithmic) {
  return logarithmic ? std::log10(value) : value;
}

QPointF ChartFrame::at(double x_position, double y_position) const {
  if (horizontal) {
    return {plot.left() + y.share(y_position) * plot.width(),
            plot.top() + x.share(x_position) * plot.height()};
  }
  return {plot.left() + x.share(x_position) * plot.width(),
          plot.bottom() - y.share(y_position) * plot.height()};
}

double ChartFrame::band_size() const {
  return (horizontal ? plot.height() : plot.width()) / (x.high - x.low);
}

BarSpan span_of(const reports::svg::Bar& bar) {
  const double share = 2 * kHalfBar / static_cast<double>(bar.slots);
  const double begin = static_cast<double>(bar.band) - kHalfBar + share * static_cast<double>(bar.slot);
  return {begin, begin + share * (bar.slots > 1 ? 0.92 : 1)};
}

QRectF ChartFrame::bar(const reports::svg::Bar& bar, double from, double to) const {
  const BarSpan span = span_of(bar);
  return QRectF(at(span.begin, from), at(span.end, to)).normalized();
}

AxisRange whole_x(const Chart& chart) {
  if (!chart.bands.empty()) return {-0.5, static_cast<double>(chart.bands.size()) - 0.5};
  return range_of(numeric_x_axis(chart));
}

AxisRange whole_y(const Chart& chart) {
  return with_room_for_marks(chart, range_of(value_axis(chart, 6)));
}

std::vector<AxisTick> shown_bands(const ChartFrame& frame) {
  const QFontMetricsF metrics(font_of(kChartLabelPx));
  std::vector<AxisTick> ticks;
  for (std::size_t i = 0; i < frame.x_ticks.size(); i += frame.label_every) {
    AxisTick tick = frame.x_ticks[i];
    tick.text = metrics.elidedText(tick.text, Qt::ElideMiddle, frame.band_label_room + 1);
    ticks.push_back(tick);
  }
  return ticks;
}

ChartFrame lay_out_frame(const Chart& chart, const QRectF& area, AxisRange x, AxisRange y) {
  ChartFrame frame;
  frame.x = x;
  frame.y = y;
  if (!chart.bands.empty() && chart.lines.empty() && !chart.log_y) {
    const double room = (area.width() - 60) / static_cast<double>(chart.bands.size());
    const bool fits = widest(band_ticks(chart)) + 8 <= room;
    const bool rows_fit = static_cast<double>(chart.bands.size()) * kRowHeight <= area.height() - 42;
    const double turned = std::min(widest(band_ticks(chart)), kTurnedRoom * 1.4) * 0.71 + 32;
    const bool columns_fit = fits || area.height() - turned - kValueRoom >= kLeastPlot;
    frame.horizontal = (rows_fit && (chart.is_waterfall || chart.bands.size() <= 2 || !fits)) || !columns_fit;
  }
  frame.horizontal ? lay_out_rows(chart, area, frame) : lay_out_columns(chart, area, frame);
  return frame;
}

}  // namespace ddbench::gui
