#include "reports/chart/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text/quantity.h"

namespace ddbench::reports::svg {
namespace {

constexpr double kPadding = 0.04;  ///< share of the axis, at ends that are not ticks

double nice_step(double span, int max_ticks) {
  const double rough = span / std::max(1, max_ticks);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (power * factor >= rough * 0.999) return power * factor;
  }
  return power * 10;
}

std::string tick_text(double value, double step) {
  if (std::abs(value) < step * 1e-6) return "0";
  if (std::abs(value) >= 1e7 || step < 1e-5) return fmt::format("{:.4g}", value);
  const double power = std::floor(std::log10(step) + 1e-9);
  const bool quarter = std::abs(step / std::pow(10.0, power) - 2.5) < 1e-6;
  const int decimals = std::max(0, static_cast<int>(-power) + (quarter ? 1 : 0));
  if (decimals == 0 && std::abs(value) >= 1000) return number(std::round(value), 1);
  return fmt::format("{:.{}f}", value, decimals);
}

ValueAxis linear_axis(double low, double high, int max_ticks) {
  if (!(high - low > std::max(std::abs(low), std::abs(high)) * 1e-9)) {
    const double room = std::max(std::abs(low), std::abs(high)) * 0.1;
    low -= room > 0 ? room : 0.5;
    high += room > 0 ? room : 0.5;
  }
  const double room = (high - low) * kPadding;
  const double step = nice_step(high - low + 2 * room, max_ticks);
  const auto on_tick = [step](double value) { return std::abs(std::remainder(value, step)) < step * 1e-6; };
  ValueAxis axis;
  axis.low = on_tick(low) ? low : low - room;
  axis.high = on_tick(high) ? high : high + room;
  const double first = std::ceil(axis.low / step - 1e-6);
  const double last = std::floor(axis.high / step + 1e-6);
  for (double i = first; i <= last; ++i) axis.ticks.push_back({i * step, tick_text(i * step, step)});
  return axis;
}

std::string log_tick_text(double value, const std::string& unit) {
  const UnitScale scale = scale_for(unit, value);
  const double shown = value * scale.factor;
  const bool grouped = shown >= 1000 && shown < 1e7 && std::abs(shown - std::round(shown)) < 1e-6 * shown;
  return fmt::format("{}{}{}", grouped ? number(std::round(shown), 1) : fmt::format("{:.4g}", shown),
                     scale.unit.empty() ? "" : " ", scale.unit);
}

/// Counts and ratios, speedup among them, are read in doublings.
constexpr double kMostForDoublings = 64;

void add_doublings(ValueAxis& axis) {
  for (double value = std::exp2(std::ceil(std::log2(axis.low))); value <= axis.high; value *= 2) {
    axis.ticks.push_back({value, log_tick_text(value, "")});
  }
}

ValueAxis log_axis(double low, double high, int max_ticks, const std::string& unit) {
  ValueAxis axis;
  axis.logarithmic = true;
  axis.low = low / 1.15;
  axis.high = high * 1.15;
  if ((unit.empty() || unit == "1") && high / low <= kMostForDoublings) add_doublings(axis);
  if (axis.ticks.size() > 1) return axis;
  axis.ticks.clear();
  const int first = static_cast<int>(std::ceil(std::log10(axis.low)));
  const int last = static_cast<int>(std::floor(std::log10(axis.high)));
  const int every = std::max(1, (last - first + max_ticks) / max_ticks);
  const bool decades_only = every > 1 || std::log10(high / low) * 3 > max_ticks * 1.5;
  for (int power = decades_only ? first : first - 1; power <= last; power += every) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1 && decades_only) continue;
      const double value = factor * std::pow(10.0, power);
      if (value >= axis.low && value <= axis.high) axis.ticks.push_back({value, log_tick_text(value, unit)});
    }
  }
  if (axis.ticks.size() < 2)
    axis.ticks = {{low, log_tick_text(low, unit)}, {high, log_tick_text(high, unit)}};
  return axis;
}

}  // namespace

double ValueAxis::position(double value) const {
  if (!logarithmic) return (value - low) / (high - low);
  return std::log(value / low) / std::log(high / low);
}

ValueAxis make_axis(const AxisDemand& demand) {
  if (demand.logarithmic) return log_axis(demand.low, demand.high, demand.max_ticks, demand.log_unit);
  const double low = demand.from_zero ? std::min(0.0, demand.low) : demand.low;
  const double high = demand.from_zero ? std::max(0.0, demand.high) : demand.high;
  return linear_axis(low, high, demand.max_ticks);
}

ValueAxis axis_at_values(const std::vector<double>& sorted_values, bool logarithmic,
                         const std::string& log_unit) {
  ValueAxis axis;
  axis.logarithmic = logarithmic;
  const double low = sorted_values.front();
  const double high = sorted_values.back();
  if (logarithmic) {
    const double room = high > low ? std::pow(high, kPadding) / std::pow(low, kPadding) : 2;
    axis.low = low / room;
    axis.high = high * room;
  } else {
    const double room = high > low ? (high - low) * kPadding : 1;
    axis.low = low - room;
    axis.high = high + room;
  }
  for (const double value : sorted_values)
    axis.ticks.push_back(
        {value, logarithmic ? log_tick_text(value, log_unit) : fmt::format("{:.6g}", value)});
  return axis;
}

}  // namespace ddbench::reports::svg
