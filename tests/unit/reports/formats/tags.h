#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

namespace ddbench::test {

struct Tag {
  std::string name;        ///< lower case
  std::string attributes;  ///< as written
  bool closes = false;     ///< </x>
  bool is_empty = false;   ///< <x/>
};

/// The tags that a browser would see in `markup`, comments left out. A '<' that begins no tag is skipped, as
/// browsers do.
inline std::vector<Tag> tags_of(const std::string& markup) {
  std::vector<Tag> tags;
  for (std::size_t at = markup.find('<'); at != std::string::npos; at = markup.find('<', at + 1)) {
    if (markup.compare(at, 4, "<!--") == 0) {
      at = std::min(markup.find("-->", at), markup.size() - 1);
      continue;
    }
    Tag tag;
    std::size_t begin = at + 1;
    if (begin < markup.size() && markup[begin] == '/') tag.closes = true, ++begin;
    std::size_t end = begin;
    while (end < markup.size() && std::isalnum(static_cast<unsigned char>(markup[end])))
      tag.name += static_cast<char>(std::tolower(markup[end++]));
    if (tag.name.empty() || !std::isalpha(static_cast<unsigned char>(tag.name.front()))) continue;
    bool quoted = false;
    for (; end < markup.size() && (quoted || markup[end] != '>'); ++end) {
      quoted ^= markup[end] == '"';
      tag.attributes += markup[end];
    }
    tag.is_empty = !tag.attributes.empty() && tag.attributes.back() == '/';
    tags.push_back(std::move(tag));
    at = end;
  }
  return tags;
}

/// The names of the attributes.
inline std::vector<std::string> attribute_names(const std::string& attributes) {
  std::vector<std::string> names;
  std::string name;
  bool quoted = false;
  for (const char c : attributes) {
    if (c == '"') quoted = !quoted;
    if (quoted || c == '"') continue;
    if (c == '=') names.push_back(name);
    name = c == ' ' || c == '=' ? std::string() : name + c;
  }
  return names;
}

}  // namespace ddbench::test
