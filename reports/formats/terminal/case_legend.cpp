#include "reports/formats/terminal/case_legend.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/formats/terminal/layout/cell_width.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {

std::string CaseLegend::number_of(std::string_view text) {
  if (text.empty()) return "–";
  const auto found = std::find(texts_.begin(), texts_.end(), text);
  const auto index = found - texts_.begin();
  if (found == texts_.end()) texts_.emplace_back(text);
  return std::to_string(index + 1);
}

std::string CaseLegend::render(const Paint& paint, std::size_t width) const {
  std::string lines;
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const std::string line = fmt::format("case {}: {}", i + 1, visible(texts_[i]));
    lines += paint(Tone::kFaint, fitted(line, width)) + "\n";
  }
  return lines;
}

}  // namespace ddbench::reports
