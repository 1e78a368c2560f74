#include "reports/formats/terminal/intervals_text.h"

#include <fmt/format.h>

#include "core/text/quantity.h"

namespace ddbench::reports {

std::string interval_in_words(const ConfidenceInterval& interval) {
  return fmt::format("{} to {}", number(interval.low, 4), number(interval.high, 4));
}

std::string percent_interval_in_words(const ConfidenceInterval& interval) {
  return fmt::format("{:.1f}–{:.1f}%", 100 * interval.low, 100 * interval.high);
}

std::string with_half_width(double value, const Measured<ConfidenceInterval>& interval) {
  if (!interval) return number(value);
  return fmt::format("{} ±{:.2g}", number(value), (interval->high - interval->low) / 2);
}

std::string ratio_in_words(const Measured<analyzer::RunRatio>& ratio) {
  if (!ratio) return "–";
  std::string text = "×" + number(ratio->value, 4);
  if (ratio->interval) text += " (" + interval_in_words(*ratio->interval) + ")";
  return text;
}

}  // namespace ddbench::reports
