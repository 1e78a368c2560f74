#include "harness/launch/jobfile/yaml.h"

#include <algorithm>
#include <sstream>

namespace ddbench::job {
namespace {

constexpr const char* kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// A word that no version of YAML takes for a number, a date, a truth value or a sign of its own.
bool is_plain(const std::string& text) {
  static const std::string kRest = std::string(kLetters) + "0123456789./-_";
  static const char* const kSpecial[] = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"};
  if (text.empty() || std::string(kLetters).find(text.front()) == std::string::npos) return false;
  if (text.find_first_not_of(kRest) != std::string::npos) return false;
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::find(std::begin(kSpecial), std::end(kSpecial), lower) == std::end(kSpecial);
}

bool is_block(const std::string& text) {
  if (text.find('\n') == std::string::npos || text.front() == ' ' || text.front() == '\n' ||
      text.ends_with("\n\n"))
    return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
}

class Writer {
 public:
  void mapping(const Document& object, std::size_t indent) {
    bool first = true;
    for (const auto& [key, value] : object.items()) {
      if (!first) begin_line(indent);
      first = false;
      out_ << scalar(key) << ':';
      nested(value, indent + 2);
    }
  }
  std::string text() const { return out_.str(); }

 private:
  void begin_line(std::size_t indent) { out_ << std::string(indent, ' '); }

  static std::string scalar(const Document& value) {
    return value.is_string() && is_plain(value.get<std::string>())
               ? value.get<std::string>()
               : value.dump(-1, ' ', false, Document::error_handler_t::replace);
  }

  void nested(const Document& value, std::size_t indent) {
    if (value.is_object() && !value.empty()) {
      out_ << '\n';
      begin_line(indent);
      mapping(value, indent);
    } else if (value.is_array() && !value.empty()) {
      out_ << '\n';
      sequence(value, indent);
    } else if (value.is_string() && is_block(value.get<std::string>())) {
      block(value.get<std::string>(), indent);
    } else {
      out_ << ' ' << scalar(value) << '\n';
    }
  }

  void sequence(const Document& array, std::size_t indent) {
    for (const Document& entry : array) {
      begin_line(indent);
      out_ << '-';
      if (entry.is_object() && !entry.empty()) {
        out_ << ' ';
        mapping(entry, indent + 2);
      } else {
        nested(entry, indent + 2);
      }
    }
  }

  void block(const std::string& text, std::size_t indent) {
    out_ << (text.back() == '\n' ? " |\n" : " |-\n");
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty()) begin_line(indent);
      out_ << line << '\n';
    }
  }

  std::ostringstream out_;
};

}  // namespace

std::string yaml(const Document& document) {
  Writer writer;
  writer.mapping(document, 0);
  return writer.text();
}

std::string comment(const std::string& text) {
  std::istringstream lines(text);
  std::string commented;
  for (std::string line; std::getline(lines, line);) commented += line.empty() ? "#\n" : "# " + line + "\n";
  return commented;
}

}  // namespace ddbench::job
