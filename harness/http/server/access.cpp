#include "harness/http/server/access.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "core/error.h"
#include "harness/launch/trust/hmac.h"

namespace ddbench::http {
namespace {

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool is_port(std::string_view text) {
  return text.size() <= 5 && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// The scheme's name has any case, its value has not.
bool proves_token(std::string_view authorization, const std::string& token) {
  const std::size_t blank = std::min(authorization.find(' '), authorization.size());
  const std::string scheme = in_lower_case(authorization.substr(0, blank));
  authorization.remove_prefix(blank);
  authorization.remove_prefix(std::min(authorization.find_first_not_of(' '), authorization.size()));
  if (scheme == "bearer") return launch::equal_in_constant_time(authorization, token);
  if (scheme != "basic") return false;
  return launch::equal_in_constant_time(authorization, launch::base64(fmt::format("{}:{}", kServeUser, token)));
}

}  // namespace

std::string host_name(std::string_view host_header) {
  const bool bracketed = host_header.starts_with('[');
  const std::size_t end = bracketed ? host_header.find(']') : host_header.find(':');
  if (bracketed && end == std::string_view::npos) return {};
  const std::string_view name = bracketed ? host_header.substr(1, end - 1) : host_header.substr(0, end);
  std::string_view rest = end == std::string_view::npos ? "" : host_header.substr(bracketed ? end + 1 : end);
  if (!rest.empty() && (rest.front() != ':' || !is_port(rest.substr(1)))) return {};
  return in_lower_case(name);
}

Access decide_access(const ReceivedRequest& request, const AccessRules& rules) {
  const std::vector<std::string> hosts = values_of(request, "Host");
  const std::vector<std::string> proofs = values_of(request, "Authorization");
  if (hosts.size() != 1 || proofs.size() > 1) return Access::kMalformed;
  const std::string host = host_name(hosts.front());
  if (host.empty()) return Access::kMalformed;
  if (rules.token.empty() && std::find(rules.hosts.begin(), rules.hosts.end(), host) == rules.hosts.end()) return Access::kForeignHost;
  if (!rules.token.empty() && (proofs.empty() || !proves_token(proofs.front(), rules.token))) return Access::kNoToken;
  if (request.method != "GET" && request.method != "HEAD") return Access::kOtherMethod;
  return Access::kGranted;
}

std::string canonical_address(const std::string& address) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  std::array<char, INET6_ADDRSTRLEN> text{};
  for (const int family : {AF_INET, AF_INET6}) {
    if (::inet_pton(family, address.c_str(), bytes.data()) != 1) continue;
    if (::inet_ntop(family, bytes.data(), text.data(), text.size()) != nullptr) return text.data();
  }
  return address;
}

bool is_loopback(const std::string& address) {
  in_addr four{};
  in6_addr six{};
  if (::inet_pton(AF_INET, address.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
  if (::inet_pton(AF_INET6, address.c_str(), &six) != 1)
    throw Error(ErrorCode::kBadInput, fmt::format("--bind {}: give an IP address of this machine, such as 127.0.0.1, ::1 or 0.0.0.0", address));
  return IN6_IS_ADDR_LOOPBACK(&six) != 0;
}

}  // namespace ddbench::http
