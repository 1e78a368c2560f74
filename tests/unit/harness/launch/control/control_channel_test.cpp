#include "harness/launch/control/control_channel.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "expect_error.h"
#include "hang_limit.h"
#include "socket_pair.h"

namespace ddbench::launch {
namespace {

using test::message_of;

using namespace std::chrono_literals;

void write_raw(int fd, const std::string& bytes) {
  ASSERT_EQ(::write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
}

std::string frame(const std::string& payload, std::uint32_t claimed_bytes) {
  const std::uint32_t header = ::htonl(claimed_bytes);
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + payload;
}

TEST(ControlChannel, MessagesArriveInOrder) {
  SocketPair pair;
  ControlChannel left(std::move(pair.left));
  ControlChannel right(std::move(pair.right));
  for (std::uint64_t id = 0; id < 100; ++id) left.send(Ping{id});
  ASSERT_TRUE(right.wait_readable(test::kHangs));
  const std::vector<Message> messages = right.read_available();
  ASSERT_EQ(messages.size(), 100u);
  for (std::uint64_t id = 0; id < 100; ++id) EXPECT_EQ(std::get<Ping>(messages[id]).id, id);
  EXPECT_FALSE(right.closed());
}

TEST(ControlChannel, AMessageCutIntoBytesArrivesOnce) {
  SocketPair pair;
  ControlChannel right(std::move(pair.right));
  const std::string payload = encode(Stop{"because"});
  const std::string whole = frame(payload, static_cast<std::uint32_t>(payload.size()));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_TRUE(right.read_available().empty());
    write_raw(pair.left.get(), whole.substr(i, 1));
  }
  const std::vector<Message> messages = right.read_available();
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(std::get<Stop>(messages[0]).reason, "because");
}

TEST(ControlChannel, WhatThePeerDoesNotTakeIsKept) {
  SocketPair pair;
  ControlChannel left(std::move(pair.left));
  ControlChannel right(std::move(pair.right));
  const std::string long_reason(100'000, 'x');
  for (int i = 0; i < 30; ++i) left.post(Stop{long_reason});
  EXPECT_FALSE(left.flush());
  std::size_t received = 0;
  for (int round = 0; round < 10'000 && received < 30; ++round) {
    for (const Message& message : right.read_available()) {
      EXPECT_EQ(std::get<Stop>(message).reason.size(), long_reason.size());
      ++received;
    }
    left.flush();
  }
  EXPECT_EQ(received, 30u);
  EXPECT_TRUE(left.flush());
}

TEST(ControlChannel, AFrameThatClaimsTooMuchEndsTheChannel) {
  SocketPair pair;
  ControlChannel right(std::move(pair.right));
  write_raw(pair.left.get(), frame("{}", 0xffffffffU));
  const std::string message = message_of(ErrorCode::kRunFailed, [&] { right.read_available(); });
  EXPECT_NE(message.find("4294967295"), std::string::npos) << message;
  EXPECT_TRUE(right.closed());
  EXPECT_TRUE(right.read_available().empty());
}

TEST(ControlChannel, AFrameThatIsNoMessageEndsTheChannel) {
  SocketPair pair;
  ControlChannel right(std::move(pair.right));
  write_raw(pair.left.get(), frame("not json", 8));
  EXPECT_THROW(right.read_available(), Error);
  EXPECT_TRUE(right.closed());
}

TEST(ControlChannel, ATruncatedFrameIsNoMessageButTheEnd) {
  SocketPair pair;
  ControlChannel right(std::move(pair.right));
  const std::string payload = encode(Stop{"because"});
  write_raw(pair.left.get(), frame(payload, static_cast<std::uint32_t>(payload.size())).substr(0, 12));
  pair.left.reset();
  EXPECT_TRUE(right.read_available().empty());
  EXPECT_TRUE(right.closed());
}

TEST(ControlChannel, WhatAPeerSaidBeforeItLeftIsRead) {
  SocketPair pair;
  ControlChannel right(std::move(pair.right));
  {
    ControlChannel left(std::move(pair.left));
    left.send(Stop{"farewell"});
  }
  right.post(Ping{1});  // fails; what is to be read must survive that
  const std::vector<Message> messages = right.read_available();
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(std::get<Stop>(messages[0]).reason, "farewell");
  EXPECT_TRUE(right.closed());
}

TEST(ControlChannel, SendingToAPeerThatIsGoneIsAnErrorAndNoSignal) {
  SocketPair pair;
  ControlChannel left(std::move(pair.left));
  pair.right.reset();
  const std::string message = message_of(ErrorCode::kRunFailed, [&] { left.send(Ping{1}); });
  EXPECT_NE(message.find("launcher"), std::string::npos) << message;
  EXPECT_NO_THROW(left.post(Ping{2}));
  EXPECT_TRUE(left.flush());
}

TEST(ControlChannel, RefusesToSendWhatNobodyWouldRead) {
  SocketPair pair;
  ControlChannel left(std::move(pair.left));
  message_of(ErrorCode::kRunFailed, [&] { left.post(Stop{std::string(2 << 20, 'x')}); });
}

}  // namespace
}  // namespace ddbench::launch
