#include "cell_width.h"

#include <algorithm>
#include <array>

#include "../utf8.h"

namespace ddbench::reports {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

constexpr std::array<Range, 4> kCombining{
    {{0x300, 0x36f}, {0x1ab0, 0x1aff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}}};
// Unicode's East Asian Width W and F, in blocks.
constexpr std::array<Range, 9> kWide{{{0x1100, 0x115f},
                                      {0x2e80, 0x303e},
                                      {0x3041, 0xa4cf},
                                      {0xac00, 0xd7a3},
                                      {0xf900, 0xfaff},
                                      {0xfe30, 0xfe6f},
                                      {0xff00, 0xff60},
                                      {0x1f300, 0x1faff},
                                      {0x20000, 0x3fffd}}};

template <std::size_t N>
bool within(const std::array<Range, N>& ranges, char32_t c) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [c](Range range) { return range.first <= c && c <= range.last; });
}

std::size_t width_of(char32_t c) {
  return within(kCombining, c) ? 0 : within(kWide, c) ? 2 : 1;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    width += width_of(c.value);
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
    width += width_of(c.value);
    if (width > columns - 1) break;
    bytes += c.length;
  }
  return std::string(text.substr(0, bytes)) + "…";
}

std::string padded(std::string_view text, std::size_t columns, Align align) {
  const std::size_t width = display_width(text);
  const std::string blanks(columns > width ? columns - width : 0, ' ');
  return align == Align::kLeft ? std::string(text) + blanks : blanks + std::string(text);
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
