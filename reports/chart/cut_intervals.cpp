#include <algorithm>
#include <cmath>
#include <vector>

#include "reports/chart/cut_intervals.h"

namespace ddbench::reports::svg {
namespace {

constexpr double kReach = 0.5;  ///< beyond the values, as a share of their range

/// Calls `use` for every interval of the chart.
template <typename Use>
void for_each_interval(Chart& chart, const Use& use) {
  for (Line& line : chart.lines) {
    for (Mark& mark : line.marks) {
      if (mark.interval) use(*mark.interval);
    }
  }
  for (Bar& bar : chart.bars) {
    if (bar.interval) use(*bar.interval);
  }
}

}  // namespace

void cut_intervals(Chart& chart) {
  std::vector<double> values;
  for (const Line& line : chart.lines) {
    for (const Mark& mark : line.marks) values.push_back(mark.y);
  }
  for (const Bar& bar : chart.bars) {
    if (!chart.log_y) values.push_back(bar.from);
    values.push_back(bar.to);
  }
  if (values.empty()) return;
  const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
  const auto to_scale = [&](double value) { return chart.log_y ? std::log(value) : value; };
  const auto from_scale = [&](double value) { return chart.log_y ? std::exp(value) : value; };
  const double low = to_scale(*lowest);
  const double high = to_scale(*highest);
  const double least = chart.log_y ? std::log(2.0) : std::max(std::abs(low), std::abs(high)) / 2;
  const double reach = kReach * std::max(high - low, least);
  for_each_interval(chart, [&](Interval& interval) {
    interval.low_is_cut = to_scale(interval.low) < low - reach;
    interval.high_is_cut = to_scale(interval.high) > high + reach;
    if (interval.low_is_cut) interval.low = from_scale(low - reach);
    if (interval.high_is_cut) interval.high = from_scale(high + reach);
  });
  for (EndLabel& label : chart.end_labels) label.at = std::min(label.at, from_scale(high + reach));
}

}  // namespace ddbench::reports::svg
