#include "reports/chart/text_metrics.h"

#include "reports/text/utf8.h"

namespace ddbench::reports::svg {
namespace {

/// In em.
double char_width(char32_t c) {
  if (c < 0x80) {
    const char ascii = static_cast<char>(c);
    const auto among = [ascii](std::string_view set) { return set.find(ascii) != std::string_view::npos; };
    if (among("ijl|'")) return 0.29;
    if (among(" .,:;!I()[]ft/\\-\"`r")) return 0.42;
    if (among("mw%@WM&")) return 1.0;
    if (c >= 'A' && c <= 'Z') return 0.77;
    if (among("+<>=~#^")) return 0.84;
    return 0.64;
  }
  return column_width(c) == 2 ? 1.1 : c < 0x250 ? 0.7 : 0.8;
}

}  // namespace

double text_width(std::string_view utf8, double font_px) {
  double ems = 0;
  while (!utf8.empty()) {
    const CodePoint c = first_code_point(utf8);
    ems += char_width(c.value);
    utf8.remove_prefix(c.length);
  }
  return ems * font_px;
}

std::string fit_text(std::string_view utf8, double width, double font_px) {
  if (text_width(utf8, font_px) <= width) return std::string(utf8);
  const double room = width - font_px;  // for the ellipsis
  double used = 0;
  std::size_t bytes = 0;
  while (bytes < utf8.size()) {
    const CodePoint c = first_code_point(utf8.substr(bytes));
    used += char_width(c.value) * font_px;
    if (used > room) break;
    bytes += c.length;
  }
  return std::string(utf8.substr(0, bytes)) + "…";
}

std::vector<std::string> wrap_text(std::string_view utf8, double width, double font_px,
                                   std::size_t max_lines) {
  std::vector<std::string> lines;
  while (!utf8.empty()) {
    if (lines.size() + 1 == max_lines || text_width(utf8, font_px) <= width) {
      lines.push_back(fit_text(utf8, width, font_px));
      break;
    }
    double used = 0;
    std::size_t end = 0;
    std::size_t after_space = 0;
    while (end < utf8.size()) {
      const CodePoint c = first_code_point(utf8.substr(end));
      used += char_width(c.value) * font_px;
      if (used > width && end > 0) break;
      end += c.length;
      if (c.value == ' ') after_space = end;
    }
    const std::size_t cut = after_space > 0 ? after_space : end;
    std::string_view line = utf8.substr(0, cut);
    while (!line.empty() && line.back() == ' ') line.remove_suffix(1);
    lines.emplace_back(line);
    utf8.remove_prefix(cut);
  }
  return lines;
}

}  // namespace ddbench::reports::svg
