#include "harness/launch/trust/run_token.h"

#include <fmt/format.h>

#include <cstdlib>

#include "core/error.h"
#include "harness/launch/trust/hmac.h"

namespace ddbench::launch {
namespace {

constexpr std::size_t kRandomBytes = 16;
constexpr const char* kWhiteSpace = " \t\r\n";

}  // namespace

std::string new_token() {
  std::string token;
  for (const char byte : random_bytes(kRandomBytes)) {
    token += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  return token;
}

std::string take_token(const char* variable) {
  const char* const given = std::getenv(variable);
  if (given == nullptr) return {};
  std::string token = given;
  ::unsetenv(variable);
  token.erase(token.find_last_not_of(kWhiteSpace) + 1);
  token.erase(0, token.find_first_not_of(kWhiteSpace));
  if (token.size() >= kFewestTokenBytes) return token;
  throw Error(
      ErrorCode::kBadInput,
      fmt::format("{} has {} characters, but a secret needs at least {}: use the output of `openssl rand -hex 16`", variable,
                  token.size(), kFewestTokenBytes));
}

}  // namespace ddbench::launch
