#include "reports/text/safe_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/text/utf8.h"

namespace ddbench::reports {
namespace {

std::string escape_of(const CodePoint& c) {
  if (c.value == '\n') return "\\n";
  if (c.value == '\r') return "\\r";
  if (c.value == '\t') return "\\t";
  if (!c.valid || c.value < 0x80) return fmt::format("\\x{:02x}", static_cast<unsigned>(c.value));
  return fmt::format("\\u{{{:x}}}", static_cast<unsigned>(c.value));
}

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::size_t longest_run(std::string_view text, char wanted) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == wanted ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

}  // namespace

std::string visible(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    if (!c.valid || is_invisible(c.value)) {
      result += escape_of(c);
    } else {
      result += text.substr(0, c.length);
    }
    text.remove_prefix(c.length);
  }
  return result;
}

std::string html_text(std::string_view text) {
  std::string result;
  for (const char c : visible(text)) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += c;
    }
  }
  return result;
}

std::string url_segment(std::string_view text) {
  std::string path;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || std::string_view("-._~").find(c) != std::string_view::npos;
    path += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return path;
}

std::string markdown_text(std::string_view text) {
  // An empty comment inside a mention, a reference or an address keeps the forge from seeing it; a backslash
  // does not, since those are looked for in the rendered text.
  constexpr std::string_view kBreak = "<!-- -->";
  constexpr std::string_view kMarkup = "\\`*_[]<>|~&$";
  const std::string shown = visible(text);
  const std::size_t list_number = shown.find_first_not_of("0123456789");
  std::string result;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const char c = shown[i];
    const bool after_word = i > 0 && is_word(shown[i - 1]);
    const bool begins_block = (i == 0 && (c == '#' || c == '+' || c == '-' || c == '=')) ||
                              (i > 0 && i == list_number && (c == '.' || c == ')') &&
                               (i + 1 == shown.size() || shown[i + 1] == ' '));
    if (begins_block || kMarkup.find(c) != std::string_view::npos) result += '\\';
    result += c;
    const bool reference = !after_word && std::string_view("#!~%&$").find(c) != std::string_view::npos;
    const bool address = (c == ':' && shown.compare(i, 3, "://") == 0) ||
                         (c == '.' && i >= 3 && shown.compare(i - 3, 3, "www") == 0);
    if (c == '@' || reference || address) result += kBreak;
  }
  return result;
}

std::string markdown_code(std::string_view text) {
  std::string shown = visible(text);
  if (shown.find_first_not_of(' ') == std::string::npos) return shown.empty() ? "" : "`\" \"`";
  const std::string fence(longest_run(shown, '`') + 1, '`');
  if (shown.front() == '`' || shown.back() == '`') shown = " " + shown + " ";
  std::string cell;
  for (const char c : shown) {
    if (c == '|') cell += '\\';  // GitHub's tables split at a bar even inside of code
    cell += c;
  }
  return fence + cell + fence;
}

std::string csv_field(std::string_view text) {
  std::string shown = visible(text);
  const std::size_t first = shown.find_first_not_of(' ');
  if (first != std::string::npos &&
      std::string_view("=+-@|%\\").find(shown[first]) != std::string_view::npos) {
    shown.insert(0, 1, '\'');
  }
  if (shown.find_first_of(",\"';") == std::string::npos &&
      (shown.empty() || (shown.front() != ' ' && shown.back() != ' '))) {
    return shown;
  }
  std::string quoted = "\"";
  for (const char c : shown) {
    quoted += c;
    if (c == '"') quoted += '"';
  }
  return quoted + '"';
}

std::string json_string(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    if (!c.valid) {
      result += "\\ufffd";
    } else if (c.value == '"' || c.value == '\\') {
      result += '\\';
      result += static_cast<char>(c.value);
    } else if (is_invisible(c.value) && c.value <= 0xffff) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c.value));
    } else if (is_invisible(c.value)) {
      result += "\\ufffd";
    } else {
      result += text.substr(0, c.length);
    }
    text.remove_prefix(c.length);
  }
  return result + '"';
}

std::size_t char_count(std::string_view utf8) {
  return static_cast<std::size_t>(std::count_if(
      utf8.begin(), utf8.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string shortened(std::string_view utf8, std::size_t max_chars) {
  if (char_count(utf8) <= max_chars) return std::string(utf8);
  std::size_t bytes = 0;
  for (std::size_t chars = 0; chars + 1 < max_chars; ++chars)
    bytes += first_code_point(utf8.substr(bytes)).length;
  return std::string(utf8.substr(0, bytes)) + "…";
}

}  // namespace ddbench::reports
