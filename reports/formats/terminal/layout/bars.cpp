#include "reports/formats/terminal/layout/bars.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ddbench::reports {
namespace {

constexpr std::array<const char*, 8> kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};

std::string repeat(const char* text, std::size_t times) {
  std::string result;
  for (; times > 0; --times) result += text;
  return result;
}

std::string blocks(double columns) {
  const auto eighths = static_cast<std::size_t>(std::max(columns > 0 ? 1.0 : 0.0, std::round(columns * 8)));
  return repeat("█", eighths / 8) + kEighths[eighths % 8];
}

}  // namespace

std::string bar(double share, std::size_t columns) {
  return blocks(std::clamp(share, 0.0, 1.0) * static_cast<double>(columns));
}

SignedBars::SignedBars(double smallest, double largest, std::size_t columns) {
  const double below = std::max(0.0, -smallest);
  const double above = std::max(0.0, largest);
  const double usable = static_cast<double>(columns) - 1;
  left_ = below + above > 0 ? static_cast<std::size_t>(std::ceil(usable * below / (below + above))) : 0;
  const double right = usable - static_cast<double>(left_);
  per_column_ =
      std::max(left_ > 0 ? below / static_cast<double>(left_) : 0.0, right > 0 ? above / right : 0.0);
}

std::string SignedBars::draw(double value) const {
  const double columns = per_column_ > 0 ? value / per_column_ : 0;
  if (columns >= 0) return std::string(left_, ' ') + "│" + blocks(columns);
  // Block characters fill from the left only: a bar to the left ends on a half column.
  const auto halves = std::min(2 * left_, static_cast<std::size_t>(std::max(1.0, std::round(-columns * 2))));
  const std::size_t used = (halves + 1) / 2;
  return std::string(left_ - used, ' ') + (halves % 2 == 1 ? "▐" : "") + repeat("█", halves / 2) + "│";
}

}  // namespace ddbench::reports
