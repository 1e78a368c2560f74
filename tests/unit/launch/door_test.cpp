#include "door.h"

#include <gtest/gtest.h>

#include <thread>

#include "ddbench/record/error.h"
#include "expect_error.h"

namespace ddbench::launch {
namespace {

using test::message_of;

using namespace std::chrono_literals;

class DoorTest : public ::testing::Test {
 protected:
  ControlChannel knock() { return ControlChannel(connect_to(door_.endpoint(), 5s)); }

  static Hello hello(int rank) {
    Hello hello;
    hello.token = "secret";
    hello.rank = rank;
    hello.world_size = 2;
    return hello;
  }

  std::vector<Arrival> arrivals() {
    for (int i = 0; i < 100; ++i) {
      if (auto arrived = door_.take_arrivals(); !arrived.empty()) return arrived;
      std::this_thread::sleep_for(2ms);
    }
    return {};
  }

  /// What the door says to somebody whom it turns away.
  std::string refusal_of(ControlChannel& channel) {
    for (int i = 0; i < 500; ++i) {
      EXPECT_TRUE(door_.take_arrivals().empty());
      for (const Message& message : channel.read_available()) {
        if (const auto* stop = std::get_if<Stop>(&message)) return stop->reason;
      }
      std::this_thread::sleep_for(2ms);
    }
    return {};
  }

  Door door_{{"127.0.0.1", 0}, "secret", 2};
};

TEST_F(DoorTest, LetsTheRanksIn) {
  ControlChannel one = knock();
  ControlChannel zero = knock();
  one.send(hello(1));
  const auto first = arrivals();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first.front().hello.rank, 1);
  zero.send(hello(0));
  EXPECT_EQ(arrivals().size(), 1u);
  EXPECT_TRUE(door_.has_come(0) && door_.has_come(1));
  EXPECT_EQ(door_.refusals(), "");
}

TEST_F(DoorTest, TurnsAwayWhoDoesNotKnowTheToken) {
  ControlChannel stranger = knock();
  Hello wrong = hello(0);
  wrong.token = "secreT";
  stranger.send(wrong);
  EXPECT_NE(refusal_of(stranger).find("token"), std::string::npos);
  EXPECT_NE(door_.refusals().find("127.0.0.1 does not know this run's token"), std::string::npos);
  EXPECT_FALSE(door_.has_come(0));
}

TEST_F(DoorTest, TurnsAwayASecondRankOfOneNumberAndRanksOfAnotherWorld) {
  ControlChannel first = knock();
  first.send(hello(0));
  ASSERT_EQ(arrivals().size(), 1u);
  ControlChannel second = knock();
  second.send(hello(0));
  EXPECT_NE(refusal_of(second).find("here already"), std::string::npos);
  ControlChannel third = knock();
  Hello other = hello(1);
  other.world_size = 4;
  third.send(other);
  EXPECT_NE(refusal_of(third).find("rank 1 of 4"), std::string::npos);
}

TEST_F(DoorTest, TurnsAwayWhatSpeaksAnotherProtocol) {
  const UniqueFd browser = connect_to(door_.endpoint(), 5s);
  ASSERT_GT(::write(browser.get(), "GET / HTTP/1.1\r\n\r\n", 18), 0);
  for (int i = 0; i < 500 && door_.refusals().empty(); ++i) {
    EXPECT_TRUE(door_.take_arrivals().empty());
    std::this_thread::sleep_for(2ms);
  }
  EXPECT_NE(door_.refusals().find("protocol"), std::string::npos);
}

TEST_F(DoorTest, APortThatIsTakenIsNamed) {
  const Endpoint taken = door_.endpoint();
  const std::string message = message_of(ErrorCode::kEnvironment, [&] { Door(taken, "x", 1); });
  EXPECT_NE(message.find(to_string(taken)), std::string::npos) << message;
  EXPECT_NE(message.find("--port"), std::string::npos) << message;
}

}  // namespace
}  // namespace ddbench::launch
