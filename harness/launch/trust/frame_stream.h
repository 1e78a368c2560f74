#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/unique_handle.h"
#include "harness/launch/trust/handshake.h"
#include "harness/launch/trust/hmac.h"

namespace ddbench::launch {

/// The tags of the frames of one direction, in their order: 16 bytes of HMAC-SHA-256 over the frame's number,
/// its length and its payload. A frame that was changed, left out, repeated, moved or reflected has another
/// tag.
class FrameSeal {
 public:
  static constexpr std::size_t kTagBytes = 16;
  explicit FrameSeal(std::string_view key) : hash_(key) {}

  /// The tag of the next frame; `header` and `payload` as transmitted.
  std::string next_tag(std::string_view header, std::string_view payload);

 private:
  KeyedHash hash_;
  std::uint64_t frames_ = 0;
};

/// Frames of bytes over a connected stream socket: a length of 4 bytes in network order, that many bytes of
/// payload and, after a handshake, a tag (FrameSeal). Frames on an inherited socket have no tag: no other
/// process has its ends. The class does not interpret payloads. One thread may send while another one reads;
/// no other concurrent use. A disconnected peer is not an error but makes closed() true, except for send().
class FrameStream {
 public:
  static constexpr std::uint32_t kMostFrameBytes = 1u << 20;
  /// What is kept for a peer that does not read. More, and the connection counts as ended.
  static constexpr std::size_t kMostUnsentBytes = std::size_t{4} << 20;

  /// Takes the socket and makes it non-blocking. `keys`: of a handshake on it.
  explicit FrameStream(UniqueFd socket, const std::optional<SessionKeys>& keys = std::nullopt);

  int fd() const noexcept { return socket_.get(); }

  /// Never waits: bytes that the peer does not accept now are kept for flush(). Throws Error{kRunFailed} for
  /// more than kMostFrameBytes.
  void post(std::string_view payload);
  /// Sends the kept bytes as far as the peer accepts them. Returns true when nothing is left.
  bool flush();
  /// post() that waits until the peer has taken everything. Throws Error{kRunFailed} when the peer is gone.
  void send(std::string_view payload);

  /// Calls `take` with each frame that has arrived completely. Throws Error on a frame that is too large or
  /// has a wrong tag, and what `take` throws; the stream is closed() then, for nothing after it can be
  /// trusted.
  void read_available(const std::function<void(std::string_view payload)>& take);
  /// Waits up to `timeout` for something to read (or the end). False after the timeout.
  bool wait_readable(std::chrono::milliseconds timeout) const;
  /// From now on, refuses frames of more bytes than this, at most kMostFrameBytes. This also bounds the
  /// memory for incoming data.
  void limit_incoming(std::uint32_t most_frame_bytes) noexcept { most_incoming_bytes_ = most_frame_bytes; }

  /// The peer has closed its end, sent what cannot be trusted, or reads nothing, and everything before has
  /// been read.
  bool closed() const noexcept { return closed_; }
  /// closed() because the peer let more than kMostUnsentBytes wait. For the sender's thread.
  bool overrun() const noexcept { return overrun_; }

 private:
  std::size_t tag_bytes() const noexcept { return incoming_seal_ ? FrameSeal::kTagBytes : 0; }
  std::size_t bytes_of_next_frame() const;
  void read_bytes();
  void take_frames(const std::function<void(std::string_view payload)>& take);
  void check_tag(std::string_view header, std::string_view payload, std::string_view tag);

  UniqueFd socket_;
  std::optional<FrameSeal> outgoing_seal_;  // the sender's
  std::optional<FrameSeal> incoming_seal_;  // the reader's
  std::uint32_t most_incoming_bytes_ = kMostFrameBytes;
  std::string incoming_;
  std::string outgoing_;
  bool peer_gone_ = false;           // for the sender
  bool overrun_ = false;             // likewise
  std::atomic<bool> closed_{false};  // for the reader
};

}  // namespace ddbench::launch
