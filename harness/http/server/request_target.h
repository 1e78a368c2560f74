#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddbench::http {

/// What a request asks for, decoded: "/run/4f3a?limit=5" has the path {"run", "4f3a"}. A segment is any text: it names a page or a
/// stored run, never a file.
struct RequestTarget {
  std::vector<std::string> path;
  std::map<std::string, std::string> query;  ///< of a name that occurs several times the last value

  /// Empty where the query has none.
  std::string value(const std::string& name) const;
};

/// Nothing for what is no path of this server: without a leading "/", with a broken %-sequence or with control characters.
std::optional<RequestTarget> parse_target(std::string_view target);

}  // namespace ddbench::http
