#include "reports/chart/layout.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "reports/chart/text_metrics.h"

namespace ddbench::reports::svg {
namespace {

constexpr double kMargin = 8;
constexpr double kSwatch = 16;
constexpr double kRow = 26;  ///< height of a horizontal bar's band
constexpr std::size_t kMostRows = 24;
constexpr double kTurnedHeight = 84;  ///< of labels at 45 degrees
constexpr std::size_t kMostOwnTicks = 10;

double widest(const std::vector<std::string>& texts) {
  double width = 0;
  for (const std::string& text : texts) width = std::max(width, text_width(text, kTextPx));
  return width;
}

ValueAxis value_axis(const Chart& chart, int max_ticks) {
  double low = 1e300;
  double high = -1e300;
  const auto include = [&](double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  };
  for (const Line& line : chart.lines) {
    for (const Mark& mark : line.marks) {
      include(mark.y);
      if (mark.interval) include(mark.interval->low), include(mark.interval->high);
    }
  }
  for (const Bar& bar : chart.bars) {
    if (!chart.log_y) include(bar.from);
    include(bar.to);
    if (bar.interval) include(bar.interval->low), include(bar.interval->high);
  }
  if (low > high) low = high = 0;
  if (chart.log_y && !(low > 0)) low = high = 1;
  return make_axis({low, high, chart.log_y, low >= 0 || !chart.bars.empty(), max_ticks, chart.log_y_unit});
}

ValueAxis numeric_x_axis(const Chart& chart, double width) {
  std::set<double> values;
  for (const Line& line : chart.lines) {
    for (const Mark& mark : line.marks) values.insert(mark.x);
  }
  if (values.empty()) return make_axis({0, 1, false, true, 6, {}});
  if (values.size() <= kMostOwnTicks)
    return axis_at_values({values.begin(), values.end()}, chart.log_x, chart.log_x_unit);
  const int max_ticks = std::clamp(static_cast<int>(width / 70), 2, 12);
  return make_axis({*values.begin(), *values.rbegin(), chart.log_x, false, max_ticks, chart.log_x_unit});
}

class LayoutBuilder {
 public:
  LayoutBuilder(const Chart& chart, const LayoutDemand& demand) : chart_(chart), demand_(demand) {
    layout_.width = std::max(280.0, demand.width);
    inner_width_ = layout_.width - 2 * kMargin;
  }

  Layout build() {
    layout_.title = wrap_text(demand_.title, inner_width_, kTitlePx, 3);
    top_ = kMargin + static_cast<double>(layout_.title.size()) * (kTitlePx + 5);
    place_legend();
    layout_.value_title = wrap_text(chart_.y_title, inner_width_, kTextPx, 2);
    choose_direction();
    if (layout_.horizontal) {
      place_rows();
    } else {
      place_columns();
    }
    place_notes();
    return std::move(layout_);
  }

 private:
  void place_legend() {
    if (chart_.legend.empty()) return;
    double x = kMargin;
    double y = top_ + kTextPx;
    for (const LegendEntry& entry : chart_.legend) {
      const std::string text = fit_text(entry.name, inner_width_ - kSwatch - kGap, kTextPx);
      const double width = kSwatch + kGap + text_width(text, kTextPx);
      if (x > kMargin && x + width > layout_.width - kMargin) {
        x = kMargin;
        y += kLinePx;
      }
      layout_.legend.push_back({entry, text, x, y});
      x += width + 2 * kGap;
    }
    top_ = y + kGap + kGap;
  }

  void choose_direction() {
    if (chart_.bands.empty() || chart_.bars.empty() || chart_.log_y) return;
    const double room = (inner_width_ - 60) / static_cast<double>(chart_.bands.size());
    const bool fits = widest(chart_.bands) + kGap <= room;
    layout_.horizontal =
        chart_.is_waterfall || chart_.bands.size() <= 2 || (!fits && chart_.bands.size() <= kMostRows);
  }

  void place_rows() {
    const double label_width = std::min(widest(chart_.bands), inner_width_ * 0.42);
    layout_.band_label_width = label_width;
    double value_width = 0;
    for (const EndLabel& label : chart_.end_labels)
      value_width = std::max(value_width, text_width(label.text, kTextPx));
    layout_.plot.left = kMargin + label_width + kGap;
    layout_.plot.right = layout_.width - kMargin - value_width - kGap;
    layout_.plot.top = top_ + kGap;
    layout_.plot.bottom = layout_.plot.top + kRow * static_cast<double>(chart_.bands.size()) + 4;
    layout_.y = value_axis(chart_, std::clamp(static_cast<int>(layout_.plot.width() / 75), 3, 8));
    top_ = layout_.plot.bottom + kLinePx + static_cast<double>(layout_.value_title.size()) * kLinePx + kGap;
  }

  void place_columns() {
    const double height = std::clamp(layout_.width * 0.38, 190.0, 300.0);
    layout_.plot.top = top_ + static_cast<double>(layout_.value_title.size()) * kLinePx + kGap;
    layout_.plot.bottom = layout_.plot.top + height;
    layout_.y = value_axis(chart_, static_cast<int>(height / 36));
    double tick_width = 0;
    for (const Tick& tick : layout_.y.ticks)
      tick_width = std::max(tick_width, text_width(tick.text, kTextPx));
    layout_.plot.left = kMargin + tick_width + kGap;
    layout_.plot.right = layout_.width - kMargin - kGap;
    double below = kLinePx;
    if (chart_.bands.empty()) {
      layout_.x = numeric_x_axis(chart_, layout_.plot.width());
    } else {
      below = place_band_labels();
    }
    top_ = layout_.plot.bottom + kGap + below + (chart_.x_title.empty() ? 0 : kLinePx) + kGap;
  }

  /// Places labels side by side if they fit, else turned, else only some of them. Returns their height.
  double place_band_labels() {
    const double room = layout_.band_size(chart_);
    if (widest(chart_.bands) + kGap <= room) {
      layout_.band_label_width = room;
      return kLinePx;
    }
    layout_.band_labels = BandLabels::kTurned;
    layout_.label_every = static_cast<std::size_t>(std::ceil(1.3 * kTextPx * 1.2 / room));
    const double diagonal = std::sqrt(2.0);
    layout_.band_label_width = std::min(kTurnedHeight * diagonal - kTextPx, widest(chart_.bands) + 1);
    return layout_.band_label_width / diagonal + kTextPx;
  }

  void place_notes() {
    layout_.notes_top = top_;
    for (const std::string& note : demand_.notes) {
      for (std::string& line : wrap_text(note, inner_width_, kTextPx))
        layout_.notes.push_back(std::move(line));
    }
    layout_.height = std::ceil(top_ + static_cast<double>(layout_.notes.size()) * kLinePx + kMargin);
  }

  const Chart& chart_;
  const LayoutDemand& demand_;
  Layout layout_;
  double inner_width_ = 0;
  double top_ = 0;
};

}  // namespace

Layout lay_out(const Chart& chart, const LayoutDemand& demand) {
  return LayoutBuilder(chart, demand).build();
}

}  // namespace ddbench::reports::svg
