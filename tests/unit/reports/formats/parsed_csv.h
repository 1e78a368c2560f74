#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace ddbench::test {

/// RFC 4180; throws on what it does not allow: a stray quote, rows of unequal length.
inline std::vector<std::vector<std::string>> parsed_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string& field = rows.back().back();
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        field += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        field += c;
        ++i;
      } else {
        quoted = false;
        if (i + 1 < text.size() && text[i + 1] != ',' && text[i + 1] != '\n')
          throw std::runtime_error("text after a closing quote");
      }
    } else if (c == '"') {
      if (!field.empty()) throw std::runtime_error("a quote inside of a bare field");
      quoted = true;
    } else if (c == ',') {
      rows.back().emplace_back();
    } else if (c == '\n') {
      if (rows.back().size() != rows.front().size()) throw std::runtime_error("a row of another length");
      rows.emplace_back(1);
    } else {
      field += c;
    }
  }
  if (quoted || rows.back().size() != 1 || !rows.back().front().empty())
    throw std::runtime_error("the last row is not ended");
  rows.pop_back();
  return rows;
}

}  // namespace ddbench::test
