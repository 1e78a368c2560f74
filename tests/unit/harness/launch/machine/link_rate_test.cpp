#include "harness/launch/machine/link_rate.h"

#include <gtest/gtest.h>

#include "expect_error.h"

namespace ddbench::launch {
namespace {

using test::message_of;

TEST(LinkRate, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_link_rate("100mbit").bits_per_s, 100'000'000);
  EXPECT_EQ(parse_link_rate("1gbit").bits_per_s, 1'000'000'000);
  EXPECT_EQ(parse_link_rate("10gbit").bits_per_s, 10'000'000'000);
  EXPECT_EQ(parse_link_rate("2.5gbit").bits_per_s, 2'500'000'000);
  EXPECT_EQ(parse_link_rate("0.1gbit").bits_per_s, 100'000'000);
  EXPECT_EQ(parse_link_rate("1500kbit").bits_per_s, 1'500'000);
  EXPECT_EQ(parse_link_rate("100gbit").bits_per_s, 100'000'000'000);
}

TEST(LinkRate, RefusesEverythingElseAndSaysWhatIsAllowed) {
  for (const char* text : {"",
                           "gbit",
                           "1",
                           "1 gbit",
                           " 1gbit",
                           "1gbit ",
                           "1Gbit",
                           "1gbps",
                           "1gb",
                           "-1gbit",
                           "+1gbit",
                           "1e3mbit",
                           "1.gbit",
                           ".5gbit",
                           "1..5gbit",
                           "1.5.5gbit",
                           "0x10mbit",
                           "0gbit",
                           "999kbit",
                           "101gbit",
                           "100.0000000001gbit",
                           "99999999999999999999gbit",
                           "1,5gbit",
                           "nanmbit",
                           "1.00000000001mbit"}) {
    const std::string message = message_of(ErrorCode::kBadInput, [&] { parse_link_rate(text); });
    EXPECT_NE(message.find(std::string("\"") + text + "\""), std::string::npos) << message;
    EXPECT_NE(message.find("2.5gbit"), std::string::npos) << message;
  }
}

TEST(LinkRate, TextReadsBackToTheSameRate) {
  EXPECT_EQ(to_string(LinkRate{1'000'000'000}), "1gbit");
  EXPECT_EQ(to_string(LinkRate{2'500'000'000}), "2.5gbit");
  EXPECT_EQ(to_string(LinkRate{100'000'000}), "100mbit");
  for (std::int64_t rate = 1'000'000; rate <= 100'000'000'000; rate += rate / 7 + 1) {
    EXPECT_EQ(parse_link_rate(to_string(LinkRate{rate})).bits_per_s, rate) << rate;
  }
}

}  // namespace
}  // namespace ddbench::launch
