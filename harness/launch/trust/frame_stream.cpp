#include "harness/launch/trust/frame_stream.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/error.h"

namespace ddbench::launch {
namespace {

constexpr std::size_t kHeaderBytes = sizeof(std::uint32_t);
constexpr std::size_t kReadAtOnceBytes = std::size_t{64} << 10;
constexpr const char* kWhere = "control channel";

bool wait_for(int fd, short events, int timeout_ms) {
  pollfd poll_fd{fd, events, 0};
  int ready = 0;
  do {
    ready = ::poll(&poll_fd, 1, timeout_ms);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

std::string header_of(std::size_t payload_bytes) {
  const std::uint32_t header = ::htonl(static_cast<std::uint32_t>(payload_bytes));
  return {reinterpret_cast<const char*>(&header), kHeaderBytes};
}

std::uint32_t length_at(std::string_view frames) {
  std::uint32_t header = 0;
  std::memcpy(&header, frames.data(), kHeaderBytes);
  return ::ntohl(header);
}

}  // namespace

std::string FrameSeal::next_tag(std::string_view header, std::string_view payload) {
  char number[sizeof frames_];
  for (std::size_t i = 0; i < sizeof number; ++i) number[i] = static_cast<char>(frames_ >> (8 * i) & 0xff);
  ++frames_;
  return hash_.of({{number, sizeof number}, header, payload}).substr(0, kTagBytes);
}

FrameStream::FrameStream(UniqueFd socket, const std::optional<SessionKeys>& keys)
    : socket_(std::move(socket)) {
  const long flags = check_posix(::fcntl(socket_.get(), F_GETFL), "control socket");
  check_posix(::fcntl(socket_.get(), F_SETFL, flags | O_NONBLOCK), "control socket");
  if (!keys) return;
  outgoing_seal_.emplace(keys->sending);
  incoming_seal_.emplace(keys->receiving);
}

void FrameStream::post(std::string_view payload) {
  if (payload.size() > kMostFrameBytes) {
    throw Error(ErrorCode::kRunFailed, fmt::format("a control message of {} bytes is too large (at most {})",
                                                   payload.size(), kMostFrameBytes));
  }
  const std::string header = header_of(payload.size());
  outgoing_ += header;
  outgoing_ += payload;
  if (outgoing_seal_) outgoing_ += outgoing_seal_->next_tag(header, payload);
  if (flush() || outgoing_.size() <= kMostUnsentBytes) return;
  peer_gone_ = overrun_ = closed_ = true;
  flush();
}

bool FrameStream::flush() {
  std::size_t sent = 0;
  while (sent < outgoing_.size() && !peer_gone_) {
    const ssize_t count =
        ::send(socket_.get(), outgoing_.data() + sent, outgoing_.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      sent += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    } else if (errno != EINTR) {
      // The peer's last messages must still be read: the reader finds the end itself.
      peer_gone_ = true;
    }
  }
  outgoing_.erase(0, peer_gone_ ? std::string::npos : sent);
  return outgoing_.empty();
}

void FrameStream::send(std::string_view payload) {
  post(payload);
  while (!flush()) wait_for(socket_.get(), POLLOUT, -1);
  if (peer_gone_) {
    throw Error(ErrorCode::kRunFailed, "the control channel to the launcher is closed", 0, kWhere);
  }
}

std::size_t FrameStream::bytes_of_next_frame() const {
  if (incoming_.size() < kHeaderBytes) return kHeaderBytes;
  return kHeaderBytes + std::min(length_at(incoming_), most_incoming_bytes_) + tag_bytes();
}

void FrameStream::read_bytes() {
  char buffer[16384];
  const std::size_t at_once = std::min<std::size_t>(kReadAtOnceBytes, most_incoming_bytes_);
  for (;;) {
    const ssize_t count = ::recv(socket_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (count > 0) {
      incoming_.append(buffer, static_cast<std::size_t>(count));
      // Bounded memory, whatever the peer sends: the rest is read after these frames were taken. The kernel's
      // buffer fills up meanwhile, and the peer waits.
      if (incoming_.size() >= std::max(at_once, bytes_of_next_frame())) return;
    } else if (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
      closed_ = true;
      return;
    } else if (errno != EINTR) {
      return;
    }
  }
}

void FrameStream::check_tag(std::string_view header, std::string_view payload, std::string_view tag) {
  if (!incoming_seal_ || equal_in_constant_time(tag, incoming_seal_->next_tag(header, payload))) return;
  throw Error(ErrorCode::kRunFailed,
              "a control message was changed, lost or repeated on its way, or was sent by somebody else", 0,
              kWhere);
}

void FrameStream::take_frames(const std::function<void(std::string_view payload)>& take) {
  std::string_view rest = incoming_;
  while (rest.size() >= kHeaderBytes) {
    const std::uint32_t length = length_at(rest);
    if (length > most_incoming_bytes_) {
      throw Error(ErrorCode::kRunFailed,
                  fmt::format("a control message claims {} bytes (at most {} are allowed)", length,
                              most_incoming_bytes_),
                  0, kWhere);
    }
    if (rest.size() < kHeaderBytes + length + tag_bytes()) break;
    const std::string_view payload = rest.substr(kHeaderBytes, length);
    check_tag(rest.substr(0, kHeaderBytes), payload, rest.substr(kHeaderBytes + length, tag_bytes()));
    take(payload);
    rest.remove_prefix(kHeaderBytes + length + tag_bytes());
  }
  incoming_.erase(0, incoming_.size() - rest.size());
  // A launcher has hundreds of these: none keeps the room that its largest frame took.
  if (incoming_.capacity() > 2 * incoming_.size() + kReadAtOnceBytes / 8) incoming_.shrink_to_fit();
}

void FrameStream::read_available(const std::function<void(std::string_view payload)>& take) {
  if (closed_) return;
  read_bytes();
  try {
    take_frames(take);
  } catch (const Error&) {
    closed_ = true;
    throw;
  }
}

bool FrameStream::wait_readable(std::chrono::milliseconds timeout) const {
  return wait_for(socket_.get(), POLLIN, static_cast<int>(timeout.count()));
}

}  // namespace ddbench::launch
