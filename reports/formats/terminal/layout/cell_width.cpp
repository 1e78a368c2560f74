#include "reports/formats/terminal/layout/cell_width.h"

#include <algorithm>

#include "reports/text/utf8.h"

namespace ddbench::reports {
std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    width += column_width(c.value);
    text.remove_prefix(c.length);
  }
  return width;
}

std::string fitted(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  std::size_t bytes = 0;
  for (std::size_t width = 0; bytes < text.size();) {
    const CodePoint c = first_code_point(text.substr(bytes));
    width += column_width(c.value);
    if (width > columns - 1) break;
    bytes += c.length;
  }
  return std::string(text.substr(0, bytes)) + "…";
}

std::vector<std::string> joined(const std::vector<std::string>& parts, std::string_view separator,
                                std::size_t columns) {
  std::vector<std::string> lines;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    const bool fits = !lines.empty() &&
                      display_width(lines.back()) + display_width(separator) + display_width(part) <= columns;
    if (fits) {
      lines.back() += separator;
      lines.back() += part;
    } else {
      lines.push_back(part);
    }
  }
  return lines;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, blank));
    text.remove_prefix(std::min(blank + 1, text.size()));
  }
  return joined(words, " ", columns);
}

}  // namespace ddbench::reports
