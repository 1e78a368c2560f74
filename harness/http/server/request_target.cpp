#include "harness/http/server/request_target.h"

#include <algorithm>
#include <charconv>

namespace ddbench::http {
namespace {

/// RFC 3986; in queries, forms write a blank as "+".
std::optional<std::string> decoded(std::string_view text, bool is_query) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+' && is_query) c = ' ';
    if (text[i] == '%') {
      if (text.size() < i + 3) return std::nullopt;
      unsigned char byte = 0;
      const char* const end = text.data() + i + 3;
      if (const auto parsed = std::from_chars(text.data() + i + 1, end, byte, 16); parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
      c = static_cast<char>(byte);
      i += 2;
    }
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f) return std::nullopt;
    result += c;
  }
  return result;
}

/// Calls `take` with each part of `text` between separators, until it returns false.
template <typename Take>
bool for_each_part(std::string_view text, char separator, const Take& take) {
  while (true) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (!take(text.substr(0, end))) return false;
    if (end == text.size()) return true;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string RequestTarget::value(const std::string& name) const {
  const auto found = query.find(name);
  return found == query.end() ? "" : found->second;
}

std::optional<RequestTarget> parse_target(std::string_view target) {
  if (target.empty() || target.front() != '/') return std::nullopt;
  const std::size_t mark = std::min(target.find('?'), target.size());
  RequestTarget parsed;
  const bool has_path = for_each_part(target.substr(1, mark - 1), '/', [&](std::string_view part) {
    auto segment = decoded(part, false);
    if (segment) parsed.path.push_back(*std::move(segment));
    return segment.has_value();
  });
  if (!has_path) return std::nullopt;
  if (parsed.path.size() == 1 && parsed.path.front().empty()) parsed.path.clear();
  if (mark == target.size()) return parsed;
  const bool has_query = for_each_part(target.substr(mark + 1), '&', [&](std::string_view part) {
    const std::size_t equals = std::min(part.find('='), part.size());
    auto name = decoded(part.substr(0, equals), true);
    auto value = decoded(equals == part.size() ? "" : part.substr(equals + 1), true);
    if (!name || !value) return false;
    if (!name->empty()) parsed.query[*name] = *std::move(value);
    return true;
  });
  return has_query ? std::optional(std::move(parsed)) : std::nullopt;
}

}  // namespace ddbench::http
