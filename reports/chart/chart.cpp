#include "reports/chart/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>

#include "reports/chart/cut_intervals.h"
#include "reports/text/phrases.h"
#include "reports/text/shown_parts.h"

namespace ddbench::reports::svg {
namespace {

using analyzer::Figure;
using analyzer::Point;
using analyzer::Series;
using analyzer::SeriesShape;

constexpr double kLeastOnLogAxis = 1e-200;  // a little below it is still above 0
constexpr double kMostExact_ms = 1e9;       // sums of thousands of such times in ns are integers

bool is_bar(SeriesShape shape) {
  return shape != SeriesShape::kLine && shape != SeriesShape::kPoints;
}

bool uses_bands(const Figure& figure) {
  return std::any_of(figure.series.begin(), figure.series.end(), [&](const Series& series) {
    // On a logarithmic axis positions have a meaning: a point's name is then shown in its tooltip only.
    const bool labelled = !series.points.empty() && !series.points.front().label.empty();
    return is_bar(series.shape) || (labelled && !figure.x.logarithmic);
  });
}

/// Builds a Chart; knows the bands and scales while it does.
class ChartBuilder {
 public:
  explicit ChartBuilder(const Figure& figure) : figure_(figure) {}

  Chart build() {
    choose_scales();
    find_bands();
    round_parts();
    if (bands_name_axis()) chart_.x_title.clear();
    for (std::size_t i = 0; i < figure_.series.size(); ++i) {
      const Series& series = figure_.series[i];
      if (is_bar(series.shape)) {
        add_bars(series, i);
      } else {
        add_line(series, i);
      }
    }
    add_end_labels();
    cut_intervals(chart_);
    if (chart_.legend.size() == 1) chart_.legend.clear();
    return std::move(chart_);
  }

 private:
  static std::string axis_title(const analyzer::Axis& axis, const std::string& unit) {
    if (unit.empty()) return axis.label;
    return axis.label.empty() ? unit : fmt::format("{} [{}]", axis.label, unit);
  }

  void choose_scales() {
    double largest_x = 0;
    double largest_y = 0;
    for (const Series& series : figure_.series) {
      double stacked = 0;
      for (const Point& point : series.points) {
        if (!can_be_drawn(figure_, point)) continue;
        largest_x = std::max(largest_x, std::abs(point.x));
        largest_y = std::max(largest_y, std::abs(point.y));
        stacked += series.shape == SeriesShape::kWaterfall ? point.y : 0;
        largest_y = std::max(largest_y, std::abs(stacked));
      }
    }
    chart_.log_x = figure_.x.logarithmic;
    chart_.log_y = figure_.y.logarithmic;
    x_scale_ = chart_.log_x ? UnitScale{1, ""} : scale_for(figure_.x.unit, largest_x);
    y_scale_ = chart_.log_y ? UnitScale{1, ""} : scale_for(figure_.y.unit, largest_y);
    chart_.log_x_unit = figure_.x.unit;
    chart_.log_y_unit = figure_.y.unit;
    chart_.x_title = axis_title(figure_.x, x_scale_.unit);
    chart_.y_title = axis_title(figure_.y, y_scale_.unit);
    chart_.y_unit = y_scale_.unit;
  }

  void find_bands() {
    if (!uses_bands(figure_)) return;
    for (const Series& series : figure_.series) {
      for (const Point& point : series.points) {
        if (!std::isfinite(point.x)) continue;
        std::string& label = labels_[point.x];
        if (label.empty()) label = display_name(point.label);
      }
      chart_.is_waterfall |= series.shape == SeriesShape::kWaterfall;
    }
    for (auto& [x, label] : labels_) {
      if (label.empty()) label = fmt::format("{:.6g}", x * x_scale_.factor);
      band_of_[x] = chart_.bands.size();
      chart_.bands.push_back(label);
    }
    count_slots();
  }

  /// "rank 0", "rank 1": the title would say it once more, in the room of others.
  bool bands_name_axis() const {
    return !chart_.bands.empty() && !figure_.x.label.empty() &&
           std::all_of(chart_.bands.begin(), chart_.bands.end(),
                       [&](const std::string& band) { return band.starts_with(figure_.x.label + " "); });
  }

  /// Stacks and waterfalls share one slot of a band; each other bar has its own.
  void count_slots() {
    slots_.assign(chart_.bands.size(), 0);
    std::vector<bool> stacked(chart_.bands.size(), false);
    for (const Series& series : figure_.series) {
      if (!is_bar(series.shape)) continue;
      for (const Point& point : series.points) {
        if (!std::isfinite(point.x)) continue;
        const std::size_t band = band_of_[point.x];
        if (series.shape == SeriesShape::kBars) {
          ++slots_[band];
        } else if (!stacked[band]) {
          stacked[band] = true;
          ++slots_[band];
        }
      }
    }
    next_slot_.assign(chart_.bands.size(), 0);
    for (std::size_t band = 0; band < stacked.size(); ++band) next_slot_[band] = stacked[band] ? 1 : 0;
    positive_.assign(chart_.bands.size(), 0);
    negative_.assign(chart_.bands.size(), 0);
  }

  /// Times that sum to a whole are shown as tables show them: rounded so that they sum to it.
  void round_parts() {
    if (figure_.y.unit != "ms") return;
    std::map<double, std::vector<const Point*>> stacks;
    for (const Series& series : figure_.series) {
      std::vector<const Point*> steps;
      for (const Point& point : series.points) {
        if (series.shape == SeriesShape::kWaterfall) steps.push_back(&point);
        if (series.shape == SeriesShape::kStackedBars && std::isfinite(point.x)) stacks[point.x].push_back(&point);
      }
      if (!steps.empty()) round_parts(steps, true);
    }
    for (const auto& [x, parts] : stacks) round_parts(parts, false);
  }

  void round_parts(const std::vector<const Point*>& parts, bool is_waterfall) {
    std::vector<std::int64_t> parts_ns;
    std::int64_t total_ns = 0;
    std::int64_t largest_ns = 0;
    for (const Point* part : parts) {
      if (!(std::abs(part->y) < kMostExact_ms)) return;
      parts_ns.push_back(std::llround(part->y * 1e6));
      total_ns += parts_ns.back();
      largest_ns = std::max(largest_ns, std::abs(parts_ns.back()));
    }
    const TimeScale scale(is_waterfall ? std::max(largest_ns, std::abs(total_ns)) : total_ns);
    const std::vector<std::string> texts = scale.show(parts_ns, is_waterfall);
    for (std::size_t i = 0; i < parts.size(); ++i) rounded_.emplace(parts[i], texts[i]);
    if (is_waterfall) waterfall_scale_ = scale;
  }

  std::string x_text(const Point& point) const {
    if (!chart_.bands.empty()) return labels_.at(point.x);
    const UnitScale scale = chart_.log_x ? scale_for(figure_.x.unit, point.x) : x_scale_;
    const std::string& unit = scale.unit.empty() ? figure_.x.label : scale.unit;
    return fmt::format("{:.6g}{}{}", point.x * scale.factor, unit.empty() ? "" : " ", unit);
  }

  /// With a unit of its own: values of one chart may be thousandfold of each other.
  std::string value_text(double y) const {
    if (figure_.y.unit != "ms" || !(std::abs(y) < kMostExact_ms)) return quantity(y, figure_.y.unit, chart_.is_waterfall);
    return waterfall_scale_ ? waterfall_scale_->show_one(std::llround(y * 1e6), true) : time_in_words(y * 1e6);
  }

  std::string value_text(const Point& point) const {
    const auto rounded = rounded_.find(&point);
    return rounded == rounded_.end() ? value_text(point.y) : rounded->second;
  }

  std::string tip(const Series& series, const Point& point) const {
    std::string text = x_text(point) + ": " + value_text(point);
    if (chart_.bands.empty() && !point.label.empty()) text.insert(0, point.label + ", ");
    if (const std::string name = display_name(series.name); !name.empty() && name != x_text(point)) {
      text.insert(0, name + ", ");
    }
    if (!point.interval) return text;
    return text + fmt::format(" ({} to {}, {:.3g}%{}{})", value_text(point.interval->low),
                              value_text(point.interval->high), point.interval->level * 100,
                              point.interval->method.empty() ? "" : ", ", point.interval->method);
  }

  std::optional<Interval> interval_of(const Point& point) const {
    if (!point.interval) return std::nullopt;
    const double low = point.interval->low * y_scale_.factor;
    const double high = point.interval->high * y_scale_.factor;
    if (!std::isfinite(low) || !std::isfinite(high) || low > high || std::abs(low) > 1e300 ||
        std::abs(high) > 1e300) {
      return std::nullopt;
    }
    if (chart_.log_y && low < kLeastOnLogAxis) return std::nullopt;
    return Interval{low, high};
  }

  void add_line(const Series& series, std::size_t index) {
    Line line{
        display_name(series.name), &ink_for(series.name, index), series.shape == SeriesShape::kLine, {}};
    for (const Point& point : series.points) {
      if (!can_be_drawn(figure_, point)) {
        ++chart_.left_out;
        continue;
      }
      const double x =
          chart_.bands.empty() ? point.x * x_scale_.factor : static_cast<double>(band_of_[point.x]);
      line.marks.push_back({x, point.y * y_scale_.factor, interval_of(point), tip(series, point)});
    }
    if (line.marks.empty()) return;
    std::stable_sort(line.marks.begin(), line.marks.end(),
                     [](const Mark& a, const Mark& b) { return a.x < b.x; });
    chart_.legend.push_back({line.name, line.ink, true, line.joined});
    chart_.lines.push_back(std::move(line));
  }

  void add_bars(const Series& series, std::size_t index) {
    bool any = false;
    for (const Point& point : series.points) {
      if (!can_be_drawn(figure_, point)) {
        ++chart_.left_out;
        continue;
      }
      add_bar(series, point, index);
      any |= point.y != 0;
    }
    if (any && !chart_.is_waterfall) {
      chart_.legend.push_back({display_name(series.name), &ink_for(series.name, index)});
    }
  }

  void add_bar(const Series& series, const Point& point, std::size_t index) {
    const double value = point.y * y_scale_.factor;
    Bar bar;
    bar.band = band_of_[point.x];
    bar.slots = slots_[bar.band];
    bar.ink = &ink_for(series.name, index);
    bar.tip = tip(series, point);
    switch (series.shape) {
      case SeriesShape::kWaterfall:
        bar.ink = &ink_for(point.label, 0);
        bar.floats = true;
        bar.from = running_;
        running_ += value;
        bar.to = running_;
        bar.interval = interval_of(point);
        if (bar.interval) bar.interval->low += bar.from, bar.interval->high += bar.from;
        break;
      case SeriesShape::kStackedBars: {
        double& pile = value < 0 ? negative_[bar.band] : positive_[bar.band];
        bar.from = pile;
        pile += value;
        bar.to = pile;
        if (value == 0) return;
        break;
      }
      default:
        bar.slot = next_slot_[bar.band]++;
        bar.to = value;
        bar.interval = interval_of(point);
    }
    if (bar.slots == 1 && series.shape != SeriesShape::kStackedBars) {
      const double end = std::max({bar.from, bar.to, bar.interval ? bar.interval->high : bar.to});
      chart_.end_labels.push_back({bar.band, end, value_text(point)});
    }
    chart_.bars.push_back(std::move(bar));
  }

  /// The sum of a stack.
  void add_end_labels() {
    for (std::size_t band = 0; band < positive_.size(); ++band) {
      const double total = positive_[band] + negative_[band];
      if (slots_[band] != 1 || total == 0) continue;
      chart_.end_labels.push_back({band, positive_[band], value_text(total / y_scale_.factor)});
    }
  }

  const Figure& figure_;
  Chart chart_;
  UnitScale x_scale_;
  UnitScale y_scale_;
  std::map<double, std::string> labels_;
  std::map<double, std::size_t> band_of_;
  std::vector<std::size_t> slots_;
  std::vector<std::size_t> next_slot_;
  std::vector<double> positive_;
  std::vector<double> negative_;
  double running_ = 0;
  std::map<const Point*, std::string> rounded_;
  std::optional<TimeScale> waterfall_scale_;
};

}  // namespace

std::string display_name(std::string_view series_name) {
  // Only the program's own names have an ink of their own.
  const bool is_ours = &ink_for(series_name, 0) != &ink_for("", 0);
  return is_ours ? part_in_words(series_name) : std::string(series_name);
}

bool can_be_drawn(const Figure& figure, const Point& point) {
  constexpr double kLargest = 1e200;  // sums and differences of values up to this stay finite
  if (!(std::abs(point.x) < kLargest) || !(std::abs(point.y) < kLargest)) return false;
  return (!figure.x.logarithmic || point.x >= kLeastOnLogAxis) && (!figure.y.logarithmic || point.y >= kLeastOnLogAxis);
}

Chart make_chart(const Figure& figure) {
  return ChartBuilder(figure).build();
}

}  // namespace ddbench::reports::svg
