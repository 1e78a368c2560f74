#include "reports/chart/chart_alt_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace ddbench::reports::svg {
namespace {

constexpr std::size_t kMostValues = 40;

std::string kind_of(const Chart& chart) {
  if (chart.is_waterfall) return "Waterfall chart";
  if (!chart.bars.empty()) return "Bar chart";
  return "Line chart";
}

void describe_line(const Line& line, const Chart& chart, std::string& text) {
  if (line.marks.size() <= kMostValues) {
    for (const Mark& mark : line.marks) text += mark.tip + ". ";
    return;
  }
  const auto [low, high] = std::minmax_element(line.marks.begin(), line.marks.end(),
                                               [](const Mark& a, const Mark& b) { return a.y < b.y; });
  text += fmt::format("{}: {} values from {} to {}{}{}. ", line.name, line.marks.size(), number(low->y),
                      number(high->y), chart.y_unit.empty() ? "" : " ", chart.y_unit);
}

}  // namespace

std::string describe(const analyzer::Figure& figure, const Chart& chart) {
  if (chart.empty()) return "Nothing to draw.";
  std::string text = fmt::format("{}. ", kind_of(chart));
  if (!chart.x_title.empty())
    text += fmt::format("Across: {}{}. ", chart.x_title, chart.log_x ? ", logarithmic" : "");
  if (!chart.y_title.empty())
    text += fmt::format("Values: {}{}. ", chart.y_title, chart.log_y ? ", logarithmic" : "");
  std::size_t described = 0;
  for (const Bar& bar : chart.bars) {
    if (bar.from == bar.to) continue;
    if (++described > kMostValues) break;
    text += bar.tip + ". ";
  }
  if (described > kMostValues) text += fmt::format("{} bars in all. ", chart.bars.size());
  for (const Line& line : chart.lines) describe_line(line, chart, text);
  for (const std::string& note : figure.notes) text += note + ". ";
  text.pop_back();
  return text;
}

}  // namespace ddbench::reports::svg
