#pragma once

#include <vector>

#include "harness/launch/control/messages.h"
#include "harness/launch/trust/frame_stream.h"

namespace ddbench::launch {

/// Messages over a FrameStream, one a frame: what that promises of threads, ends and errors holds here.
class ControlChannel {
 public:
  /// As FrameStream's.
  explicit ControlChannel(UniqueFd socket, const std::optional<SessionKeys>& keys = std::nullopt)
      : stream_(std::move(socket), keys) {}

  int fd() const noexcept { return stream_.fd(); }
  void post(const Message& message) { stream_.post(encode(message)); }
  bool flush() { return stream_.flush(); }
  void send(const Message& message) { stream_.send(encode(message)); }

  /// The messages that have arrived completely; empty when there are none. Throws Error on a frame that is no
  /// message, and as FrameStream::read_available; the channel is closed() then.
  std::vector<Message> read_available() {
    std::vector<Message> messages;
    stream_.read_available([&](std::string_view payload) { messages.push_back(decode(payload)); });
    return messages;
  }
  bool wait_readable(std::chrono::milliseconds timeout) const { return stream_.wait_readable(timeout); }
  void limit_incoming(std::uint32_t most_frame_bytes) noexcept { stream_.limit_incoming(most_frame_bytes); }
  bool closed() const noexcept { return stream_.closed(); }
  bool overrun() const noexcept { return stream_.overrun(); }

 private:
  FrameStream stream_;
};

}  // namespace ddbench::launch
