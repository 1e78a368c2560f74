#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/http/server/server.h"

namespace ddbench::http {

/// Who may read.
struct AccessRules {
  std::string token;  ///< empty: whoever reaches the port
  /// Without a token, the only names by which the server is addressed ("localhost", "127.0.0.1", "::1"): a page of another site whose
  /// name resolves to this machine (DNS rebinding) would otherwise read what it gets. With a token it would need that.
  std::vector<std::string> hosts;
};

enum class Access {
  kGranted,
  kMalformed,    ///< not exactly one Host, or several Authorizations
  kForeignHost,  ///< a name that is not in `hosts`
  kOtherMethod,  ///< neither GET nor HEAD
  kNoToken,      ///< a token is needed, and it is missing or wrong
};

/// Accepts the token as HTTP's bearer ("Authorization: Bearer TOKEN"), and as the password of the user `ddbench` (Basic), which
/// browsers ask for, or take from http://ddbench:TOKEN@host/, and then send to this host and port alone. Compares in constant time.
Access decide_access(const ReceivedRequest& request, const AccessRules& rules);

inline constexpr const char* kServeUser = "ddbench";

/// "localhost" of "localhost:8642", "::1" of "[::1]:8642"; empty where it is malformed.
std::string host_name(std::string_view host_header);

/// As browsers write it: "::1" for "0:0:0:0:0:0:0:1". What is no IP address is returned as it is.
std::string canonical_address(const std::string& address);

/// Only this machine can reach it. Throws Error{kBadInput} for a text that is no IP address.
bool is_loopback(const std::string& address);

}  // namespace ddbench::http
