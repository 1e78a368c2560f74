#include "core/text/quantity.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace ddbench {
namespace {

struct Step {
  double size;
  const char* unit;
};

constexpr std::array<Step, 4> kTime{{{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}}};
constexpr std::array<Step, 5> kBytes{{{1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}}};

template <std::size_t N>
UnitScale largest_below(const std::array<Step, N>& steps, double value, const char* suffix) {
  Step chosen = steps[0];
  for (const Step& step : steps) {
    // 999.96 of a unit would be rounded to 1000 of it.
    if (value >= step.size * 0.9995) chosen = step;
  }
  return {1 / chosen.size, std::string(chosen.unit) + suffix};
}

std::string with_separators(std::string digits) {
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

}  // namespace

UnitScale scale_for(std::string_view unit, double largest) {
  if (unit == "ns") return largest_below(kTime, largest, "");
  if (unit == "ms") {
    UnitScale scale = largest_below(kTime, largest * 1e6, "");
    scale.factor *= 1e6;
    return scale;
  }
  if (unit == "B") return largest_below(kBytes, largest, "");
  if (unit == "B/s") return largest_below(kBytes, largest, "/s");
  return {1, unit == "1" ? "" : std::string(unit)};
}

std::string number(double value, int significant) {
  if (!std::isfinite(value)) return "n/a";
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size >= 1e15 || size < 1e-6) return fmt::format("{:.{}g}", value, significant);
  // The exponent after rounding: 0.9999 with three digits is 1.00.
  const std::string scientific = fmt::format("{:.{}e}", size, significant - 1);
  const int decimals = significant - 1 - std::stoi(scientific.substr(scientific.find('e') + 1));
  if (decimals > 0) return fmt::format("{:.{}f}", value, decimals);
  return with_separators(fmt::format("{:.0f}", value));
}

std::string uncertainty(double value) {
  return std::abs(value) < 10 ? fmt::format("{:.2g}", value) : number(value, 2);
}

std::string quantity(double value, std::string_view unit, bool sign) {
  const UnitScale scale = scale_for(unit, std::abs(value));
  std::string text = number(value * scale.factor);
  if (sign && value > 0) text.insert(0, 1, '+');
  if (scale.unit.empty()) return text;
  return text + (scale.unit == "%" ? "" : " ") + scale.unit;
}

std::string time_in_words(double time_ns) {
  const UnitScale scale = scale_for("ns", std::abs(time_ns));
  return fmt::format("{} {}", number(time_ns * scale.factor, 4), scale.unit);
}

std::string signed_percent(double share) {
  constexpr double kMost = 100;
  if (share > kMost) return fmt::format("over {:+.0f}%", kMost * 100);
  const double percent = std::abs(share) < 0.0005 ? 0 : share * 100;  // no "-0.0%"
  return fmt::format("{:+.1f}%", percent);
}

}  // namespace ddbench
