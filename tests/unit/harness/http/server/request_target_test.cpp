#include "harness/http/server/request_target.h"

#include <gtest/gtest.h>

namespace ddbench::http {
namespace {

using Path = std::vector<std::string>;

Path path_of(std::string_view target) {
  const auto parsed = parse_target(target);
  return parsed ? parsed->path : Path{"(refused)"};
}

TEST(RequestTarget, PathsAndQueries) {
  EXPECT_EQ(path_of("/"), Path{});
  EXPECT_EQ(path_of("/run/4f3a"), (Path{"run", "4f3a"}));
  EXPECT_EQ(path_of("/run/4f3a/"), (Path{"run", "4f3a", ""}));
  EXPECT_EQ(path_of("/run/a%20b?x=1"), (Path{"run", "a b"}));
  const auto parsed = parse_target("/?name=a+b%26c&limit=5&empty&=x&limit=6&mark=a?b=c");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->value("name"), "a b&c");
  EXPECT_EQ(parsed->value("limit"), "6");
  EXPECT_EQ(parsed->value("mark"), "a?b=c");
  EXPECT_EQ(parsed->value("empty"), "");
  EXPECT_EQ(parsed->value("other"), "");
  EXPECT_EQ(path_of("/?"), Path{});
}

/// A segment stays one text, whatever it decodes to: nothing leads out of the path that was asked for.
TEST(RequestTarget, NothingIsJoinedOrResolved) {
  EXPECT_EQ(path_of("/run/../../etc/passwd"), (Path{"run", "..", "..", "etc", "passwd"}));
  EXPECT_EQ(path_of("/run/..%2f..%2Fetc%2fpasswd"), (Path{"run", "../../etc/passwd"}));
  EXPECT_EQ(path_of("//etc/passwd"), (Path{"", "etc", "passwd"}));
  EXPECT_EQ(path_of("/%252e"), Path{"%2e"}) << "decoded once";
}

TEST(RequestTarget, WhatIsNoPathIsRefused) {
  for (const char* target : {"", "run", "*", "http://localhost/run", "/%", "/%4", "/%zz", "/%+1", "/%00", "/a%0d%0aSet-Cookie:x", "/\x01", "/?a=%", "/?%=a", "/?a=%0a", "/%7f"})
    EXPECT_FALSE(parse_target(target).has_value()) << target;
}

}  // namespace
}  // namespace ddbench::http
