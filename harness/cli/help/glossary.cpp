#include "harness/cli/help/glossary.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "core/error.h"
#include "reports/text/utf8.h"

namespace ddbench::cli {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream input(text);
  for (std::string part; std::getline(input, part, separator);) parts.push_back(trimmed(part));
  return parts;
}

/// Letters for a comparison: small, and one blank for each of " _-–".
std::u32string folded(std::string_view name) {
  constexpr std::u32string_view kBlanks = U" _-\u2013";
  std::u32string text;
  while (!name.empty()) {
    const reports::CodePoint point = reports::first_code_point(name);
    text += kBlanks.find(point.value) != std::u32string_view::npos ? U' ' : reports::lower_case(point.value);
    name.remove_prefix(point.length);
  }
  return text;
}

/// Lines below a heading as they are.
std::string raw_section(std::string_view metrics, std::string_view heading) {
  const std::string title = fmt::format("\n## {}\n", heading);
  const std::size_t begin = metrics.find(title);
  if (begin == std::string_view::npos) return {};
  const std::size_t from = begin + title.size();
  return std::string(metrics.substr(from, metrics.find("\n## ", from) - from));
}

}  // namespace

std::vector<Term> terms_of(std::string_view metrics) {
  std::vector<Term> terms;
  std::istringstream lines(raw_section(metrics, "Terms"));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| ") || line.starts_with("| term |")) continue;
    const std::vector<std::string> cells = split(line.substr(1), '|');
    if (cells.size() != 3 || raw_section(metrics, cells[2]).empty())
      throw Error(ErrorCode::kRunFailed, "docs/metrics.md: this row names no section that exists: " + line);
    terms.push_back({split(cells[0], ','), cells[1], cells[2]});
  }
  return terms;
}

const Term* find_term(const std::vector<Term>& terms, std::string_view name) {
  for (const Term& term : terms) {
    const bool found = std::any_of(term.names.begin(), term.names.end(),
                                   [&](const std::string& known) { return folded(known) == folded(name); });
    if (found) return &term;
  }
  return nullptr;
}

std::string section_of(std::string_view metrics, std::string_view heading) {
  std::string text;
  const std::string raw = raw_section(metrics, heading);
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '`') continue;
    if (raw.compare(i, 2, "**") == 0) {
      ++i;
      continue;
    }
    const std::size_t words_end = raw[i] == '[' ? raw.find(']', i) : std::string::npos;
    if (words_end != std::string::npos && raw.compare(words_end, 2, "](") == 0) {  // a link: its words only
      text += raw.substr(i + 1, words_end - i - 1);
      i = raw.find(')', words_end);
    } else {
      text += raw[i];
    }
  }
  return text;
}

}  // namespace ddbench::cli
