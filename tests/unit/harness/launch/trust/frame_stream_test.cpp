#include "harness/launch/trust/frame_stream.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "expect_error.h"
#include "socket_pair.h"

namespace ddbench::launch {
namespace {

using test::message_of;

const SessionKeys kKeys{.sending = std::string(32, 'a'), .receiving = std::string(32, 'b')};
const SessionKeys kPeerKeys{.sending = kKeys.receiving, .receiving = kKeys.sending};
constexpr std::size_t kHeaderBytes = 4;

/// What a stream sends for these payloads, frame by frame.
std::vector<std::string> frames_of(const std::vector<std::string>& payloads,
                                   const SessionKeys& keys = kKeys) {
  SocketPair pair;
  FrameStream sender(std::move(pair.left), keys);
  std::vector<std::string> frames;
  for (const std::string& payload : payloads) {
    sender.send(payload);
    std::string frame(kHeaderBytes + payload.size() + FrameSeal::kTagBytes, '\0');
    EXPECT_EQ(::read(pair.right.get(), frame.data(), frame.size()), static_cast<ssize_t>(frame.size()));
    frames.push_back(frame);
  }
  return frames;
}

/// The payloads that a stream takes from these bytes, in one piece; nothing after an error.
struct Taken {
  std::vector<std::string> payloads;
  std::string error;
};
Taken taken_from(const std::string& bytes, const std::optional<SessionKeys>& keys = kPeerKeys) {
  SocketPair pair;
  FrameStream reader(std::move(pair.right), keys);
  EXPECT_EQ(::write(pair.left.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  Taken taken;
  try {
    reader.read_available([&](std::string_view payload) { taken.payloads.emplace_back(payload); });
  } catch (const Error& error) {
    taken.error = error.message();
    EXPECT_TRUE(reader.closed());
    reader.read_available([](std::string_view) { ADD_FAILURE() << "nothing is read after an error"; });
  }
  return taken;
}

TEST(FrameStream, FramesArriveWithTheirTags) {
  const std::vector<std::string> payloads{"one", "", std::string(100'000, 'x'), "four"};
  SocketPair pair;
  FrameStream sender(std::move(pair.left), kKeys);
  FrameStream reader(std::move(pair.right), kPeerKeys);
  std::vector<std::string> received;
  for (const std::string& payload : payloads) sender.post(payload);
  for (int round = 0; round < 1000 && received.size() < payloads.size(); ++round) {
    reader.read_available([&](std::string_view payload) { received.emplace_back(payload); });
    sender.flush();
  }
  EXPECT_EQ(received, payloads);
}

TEST(FrameStream, EqualPayloadsHaveDifferentTags) {
  const auto frames = frames_of({"same", "same"});
  EXPECT_NE(frames[0], frames[1]);
}

TEST(FrameStream, EveryBitOfAFrameCounts) {
  const std::string frame = frames_of({"Stop"}).front();
  ASSERT_EQ(taken_from(frame).payloads, std::vector<std::string>{"Stop"});
  for (std::size_t bit = 0; bit < frame.size() * 8; ++bit) {
    std::string changed = frame;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    // A length that became larger is a frame that never comes, or one that is too large: no payload either
    // way.
    EXPECT_TRUE(taken_from(changed + frame).payloads.empty()) << bit;
  }
}

TEST(FrameStream, FramesCannotBeRepeatedLeftOutMovedOrReflected) {
  const auto frames = frames_of({"first", "second", "third"});
  const std::vector<std::string> first{"first"};
  for (const std::string& tampered :
       {frames[0] + frames[0], frames[0] + frames[2], frames[0] + frames[2] + frames[1]}) {
    const Taken taken = taken_from(tampered);
    EXPECT_EQ(taken.payloads, first);
    EXPECT_NE(taken.error.find("changed, lost or repeated"), std::string::npos) << taken.error;
  }
  EXPECT_TRUE(taken_from(frames[1]).payloads.empty());
  EXPECT_TRUE(taken_from(frames[0], kKeys).payloads.empty()) << "what a side sent, sent back to it";
}

TEST(FrameStream, FramesWithoutATagAndOnesOfOtherConnectionsAreRefused) {
  const std::string plain{'\0', '\0', '\0', '\4', 'S', 't', 'o', 'p'};
  ASSERT_EQ(taken_from(plain, std::nullopt).payloads, std::vector<std::string>{"Stop"});
  EXPECT_TRUE(taken_from(plain + std::string(FrameSeal::kTagBytes, '\0')).payloads.empty());
  const SessionKeys others{.sending = std::string(32, 'c'), .receiving = std::string(32, 'd')};
  EXPECT_FALSE(taken_from(frames_of({"Stop"}, others).front()).error.empty());
}

TEST(FrameStream, AFrameThatIsCutShortIsNotTaken) {
  const std::string frame = frames_of({"Stop"}).front();
  for (std::size_t bytes = 0; bytes < frame.size(); ++bytes) {
    const Taken taken = taken_from(frame.substr(0, bytes));
    EXPECT_TRUE(taken.payloads.empty() && taken.error.empty()) << bytes;
  }
}

TEST(FrameStream, ALimitIsCheckedBeforeRoomIsMade) {
  SocketPair pair;
  FrameStream reader(std::move(pair.right), kPeerKeys);
  reader.limit_incoming(1000);
  const std::string header{'\0', '\0', '\3', '\351'};  // 1001 bytes
  ASSERT_EQ(::write(pair.left.get(), header.data(), header.size()), static_cast<ssize_t>(header.size()));
  const std::string message =
      message_of(ErrorCode::kRunFailed, [&] { reader.read_available([](std::string_view) {}); });
  EXPECT_NE(message.find("1001 bytes (at most 1000"), std::string::npos) << message;
}

TEST(FrameStream, APeerThatDoesNotReadIsGivenUpInBoundedMemory) {
  SocketPair pair;
  FrameStream sender(std::move(pair.left), kKeys);
  const std::string payload(100'000, 'x');
  std::size_t posted = 0;
  while (!sender.closed() && posted < 100 * FrameStream::kMostUnsentBytes) {
    sender.post(payload);
    posted += payload.size();
  }
  EXPECT_TRUE(sender.closed());
  EXPECT_LT(posted, FrameStream::kMostUnsentBytes + (4 << 20)) << "and what the kernel took";
  EXPECT_TRUE(sender.flush()) << "nothing is kept any more";
  message_of(ErrorCode::kRunFailed, [&] { sender.send("more"); });
}

}  // namespace
}  // namespace ddbench::launch
