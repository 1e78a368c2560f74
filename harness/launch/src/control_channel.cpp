#include "control_channel.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ddbench/record/error.h"

namespace ddbench::launch {
namespace {

constexpr std::size_t kHeaderBytes = sizeof(std::uint32_t);
constexpr std::size_t kReadAtOnceBytes = std::size_t{64} << 10;

bool wait_for(int fd, short events, int timeout_ms) {
  pollfd poll_fd{fd, events, 0};
  int ready = 0;
  do {
    ready = ::poll(&poll_fd, 1, timeout_ms);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

}  // namespace

ControlChannel::ControlChannel(UniqueFd socket) : socket_(std::move(socket)) {
  const long flags = check_posix(::fcntl(socket_.get(), F_GETFL), "control socket");
  check_posix(::fcntl(socket_.get(), F_SETFL, flags | O_NONBLOCK), "control socket");
}

void ControlChannel::post(const Message& message) {
  const std::string payload = encode(message);
  if (payload.size() > kMostFrameBytes) {
    throw Error(ErrorCode::kRunFailed, fmt::format("a control message of {} bytes is too large (at most {})",
                                                   payload.size(), kMostFrameBytes));
  }
  const std::uint32_t header = ::htonl(static_cast<std::uint32_t>(payload.size()));
  outgoing_.append(reinterpret_cast<const char*>(&header), kHeaderBytes);
  outgoing_ += payload;
  flush();
}

bool ControlChannel::flush() {
  std::size_t sent = 0;
  while (sent < outgoing_.size() && !peer_gone_) {
    const ssize_t count =
        ::send(socket_.get(), outgoing_.data() + sent, outgoing_.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      sent += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    } else if (errno != EINTR) {
      // What the peer said before it left is still to be read: the reader finds the end by itself.
      peer_gone_ = true;
    }
  }
  outgoing_.erase(0, peer_gone_ ? std::string::npos : sent);
  return outgoing_.empty();
}

void ControlChannel::send(const Message& message) {
  post(message);
  while (!flush()) wait_for(socket_.get(), POLLOUT, -1);
  if (peer_gone_) {
    throw Error(ErrorCode::kRunFailed, "the control channel to the launcher is closed", 0, "control channel");
  }
}

std::size_t ControlChannel::bytes_of_next_frame() const {
  std::uint32_t header = 0;
  if (incoming_.size() < kHeaderBytes) return kHeaderBytes;
  std::memcpy(&header, incoming_.data(), kHeaderBytes);
  return kHeaderBytes + std::min(::ntohl(header), kMostFrameBytes);
}

void ControlChannel::read_bytes() {
  char buffer[16384];
  for (;;) {
    const ssize_t count = ::recv(socket_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (count > 0) {
      incoming_.append(buffer, static_cast<std::size_t>(count));
      // Bounded memory, whatever the peer sends: the rest is read after these frames were taken. The kernel's
      // buffer fills up meanwhile, and the peer waits.
      if (incoming_.size() >= std::max(kReadAtOnceBytes, bytes_of_next_frame())) return;
    } else if (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
      closed_ = true;
      return;
    } else if (errno != EINTR) {
      return;
    }
  }
}

std::vector<Message> ControlChannel::take_messages() {
  std::vector<Message> messages;
  std::size_t begin = 0;
  while (incoming_.size() - begin >= kHeaderBytes) {
    std::uint32_t header = 0;
    std::memcpy(&header, incoming_.data() + begin, kHeaderBytes);
    const std::uint32_t length = ::ntohl(header);
    if (length > kMostFrameBytes) {
      throw Error(
          ErrorCode::kRunFailed,
          fmt::format("a control message claims {} bytes (at most {} are allowed)", length, kMostFrameBytes),
          0, "control channel");
    }
    if (incoming_.size() - begin - kHeaderBytes < length) break;
    messages.push_back(decode(std::string_view(incoming_).substr(begin + kHeaderBytes, length)));
    begin += kHeaderBytes + length;
  }
  incoming_.erase(0, begin);
  // A launcher has hundreds of these: none keeps the room that its largest frame took.
  if (incoming_.capacity() > 2 * incoming_.size() + kReadAtOnceBytes / 8) incoming_.shrink_to_fit();
  return messages;
}

std::vector<Message> ControlChannel::read_available() {
  if (closed_) return {};
  read_bytes();
  try {
    return take_messages();
  } catch (const Error&) {
    closed_ = true;
    throw;
  }
}

bool ControlChannel::wait_readable(std::chrono::milliseconds timeout) const {
  return wait_for(socket_.get(), POLLIN, static_cast<int>(timeout.count()));
}

}  // namespace ddbench::launch
