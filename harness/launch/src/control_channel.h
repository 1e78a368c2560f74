#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "ddbench/record/unique_handle.h"
#include "messages.h"

namespace ddbench::launch {

/// Messages over a connected stream socket (a socketpair on one machine, TCP between several): each frame is
/// a length of 4 bytes in network order and that many bytes of payload. One thread may send while another one
/// reads; no more than that. A peer that is gone is no error but closed(), except for send().
class ControlChannel {
 public:
  static constexpr std::uint32_t kMostFrameBytes = 1u << 20;

  /// Takes the socket and makes it non-blocking.
  explicit ControlChannel(UniqueFd socket);

  int fd() const noexcept { return socket_.get(); }

  /// Never waits: what the peer does not take now is kept for flush().
  void post(const Message& message);
  /// Sends what was kept, as far as the peer takes it. True when nothing is left.
  bool flush();
  /// post() that waits until the peer has taken everything. Throws Error{kRunFailed} when the peer is gone.
  void send(const Message& message);

  /// The messages that have arrived completely; empty when there are none. Throws Error on a frame that is no
  /// message or is too large; the channel is closed() then, for nothing after it can be trusted.
  std::vector<Message> read_available();
  /// Waits up to `timeout` for something to read (or the end). False after the timeout.
  bool wait_readable(std::chrono::milliseconds timeout) const;

  /// The peer has closed its end, or sent what is no message, and everything before that has been read.
  bool closed() const noexcept { return closed_; }

 private:
  std::size_t bytes_of_next_frame() const;
  void read_bytes();
  std::vector<Message> take_messages();

  UniqueFd socket_;
  std::string incoming_;
  std::string outgoing_;
  bool peer_gone_ = false;           // for the sender
  std::atomic<bool> closed_{false};  // for the reader
};

}  // namespace ddbench::launch
