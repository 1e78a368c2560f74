#include "harness/http/server/access.h"

#include <gtest/gtest.h>

#include "expect_error.h"
#include "harness/launch/trust/hmac.h"

namespace ddbench::http {
namespace {

const std::string kToken = "0123456789abcdef0123456789abcdef";

ReceivedRequest request_of(std::vector<Header> headers, const std::string& method = "GET") {
  return {method, "/", std::move(headers)};
}

Access local_access(std::vector<Header> headers, const std::string& method = "GET") {
  return decide_access(request_of(std::move(headers), method), {"", {"localhost", "127.0.0.1", "::1"}});
}

Access access_with(const std::string& authorization) {
  return decide_access(request_of({{"Host", "node1:8642"}, {"Authorization", authorization}}), {kToken, {"localhost"}});
}

std::string basic(const std::string& user_and_password) { return "Basic " + launch::base64(user_and_password); }

TEST(Access, WithoutATokenOnlyNamesOfThisMachineAreAnswered) {
  for (const char* host : {"localhost", "localhost:8642", "LocalHost:1", "127.0.0.1:8642", "[::1]", "[::1]:8642"})
    EXPECT_EQ(local_access({{"Host", host}}), Access::kGranted) << host;
  // A page of evil.example whose name resolves to 127.0.0.1 is of the same origin as what it reads there.
  for (const char* host : {"evil.example", "evil.example:8642", "localhost.evil.example", "127.0.0.1.evil.example:8642", "[::2]:8642", "10.0.0.1"})
    EXPECT_EQ(local_access({{"Host", host}}), Access::kForeignHost) << host;
}

TEST(Access, MalformedRequestsAreRefused) {
  EXPECT_EQ(local_access({}), Access::kMalformed);
  EXPECT_EQ(local_access({{"Host", "localhost"}, {"host", "evil.example"}}), Access::kMalformed);
  for (const char* host : {"", "[::1", "[::1]evil.example", "localhost:80x", "localhost:8642:evil.example", "localhost:123456"})
    EXPECT_EQ(local_access({{"Host", host}}), Access::kMalformed) << host;
  EXPECT_EQ(decide_access(request_of({{"Host", "a"}, {"Authorization", "Bearer " + kToken}, {"authorization", "Bearer " + kToken}}), {kToken, {}}),
            Access::kMalformed);
}

TEST(Access, OnlyReadingMethods) {
  EXPECT_EQ(local_access({{"Host", "localhost"}}, "HEAD"), Access::kGranted);
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "get", "BREW"})
    EXPECT_EQ(local_access({{"Host", "localhost"}}, method), Access::kOtherMethod) << method;
}

TEST(Access, TheTokenIsABearerOrThePasswordOfItsUser) {
  for (const std::string& right : {"Bearer " + kToken, "bearer  " + kToken, basic("ddbench:" + kToken), "BASIC " + launch::base64("ddbench:" + kToken)})
    EXPECT_EQ(access_with(right), Access::kGranted) << right;
  for (const std::string& wrong :
       {std::string(), std::string("Bearer"), std::string("Bearer "), "Bearer " + kToken.substr(1), "Bearer " + kToken + "0", "Bearer " + kToken + " ", kToken,
        "Digest " + kToken, basic(kToken), basic("root:" + kToken), basic("ddbench:"), basic("ddbench:" + kToken + "x"), "Basic ddbench:" + kToken})
    EXPECT_EQ(access_with(wrong), Access::kNoToken) << wrong;
}

TEST(Access, WithATokenEveryNameIsAnsweredAndNobodyWithoutIt) {
  const AccessRules rules{kToken, {"localhost"}};
  EXPECT_EQ(decide_access(request_of({{"Host", "localhost"}}), rules), Access::kNoToken);
  EXPECT_EQ(decide_access(request_of({{"Host", "localhost"}}, "POST"), rules), Access::kNoToken);
  EXPECT_EQ(decide_access(request_of({{"Host", "any.name"}, {"Authorization", "Bearer " + kToken}}), rules), Access::kGranted);
}

TEST(Access, AddressesAreComparedAsBrowsersWriteThem) {
  EXPECT_EQ(canonical_address("0:0:0:0:0:0:0:1"), "::1");
  EXPECT_EQ(canonical_address("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(canonical_address("0::0"), "::");
  EXPECT_EQ(canonical_address("host"), "host");
}

TEST(Access, LoopbackAddresses) {
  for (const char* address : {"127.0.0.1", "127.8.9.1", "::1"}) EXPECT_TRUE(is_loopback(address)) << address;
  for (const char* address : {"0.0.0.0", "::", "10.0.0.1", "128.0.0.1", "fe80::1"}) EXPECT_FALSE(is_loopback(address)) << address;
  for (const char* none : {"", "localhost", "127.0.0", "127.0.0.1:80", "*", "[::1]"})
    EXPECT_ERROR(ErrorCode::kBadInput, "give an IP address", is_loopback(none));
}

}  // namespace
}  // namespace ddbench::http
