#include "harness/launch/remote/rank_login.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <thread>

#include "core/error.h"

namespace ddbench::launch {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kBetweenTries = 200ms;

bool send_all(int socket, const std::string& bytes) {
  // A new connection's buffer takes it at once.
  return ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

/// Reads exactly `count` bytes, and none after them; fewer when the peer has closed its end. Nothing at the
/// deadline.
std::optional<std::string> receive(int socket, std::size_t count, Clock::time_point deadline) {
  std::string bytes(count, '\0');
  std::size_t have = 0;
  while (have < count) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd readable{socket, POLLIN, 0};
    if (left <= 0ms) return std::nullopt;
    if (::poll(&readable, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 1000))) <= 0) continue;
    const ssize_t received = ::recv(socket, bytes.data() + have, count - have, MSG_DONTWAIT);
    if (received < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (received <= 0) break;
    have += static_cast<std::size_t>(received);
  }
  bytes.resize(have);
  return bytes;
}

}  // namespace

LauncherConnection log_in(const Endpoint& launcher, const std::string& token,
                          const Introduction& introduction, std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  const auto left = [&] { return std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()); };
  do {
    UniqueFd socket = connect_to(launcher, std::max(left(), 1ms));
    RankHandshake handshake(token, introduction);
    if (!send_all(socket.get(), handshake.hello())) continue;
    const std::optional<std::string> challenge = receive(socket.get(), kChallengeBytes, deadline);
    if (!challenge) break;
    // A launcher that many connect to at once may have had no room.
    if (challenge->empty()) {
      std::this_thread::sleep_for(kBetweenTries);
      continue;
    }
    try {
      if (send_all(socket.get(), handshake.answer(*challenge))) return {std::move(socket), handshake.keys()};
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("the launcher at {}: {}", to_string(launcher), error.message()),
                  0, error.where());
    }
  } while (left() > 0ms);
  throw Error(ErrorCode::kEnvironment,
              fmt::format("whoever listens at {} did not answer as a launcher of ddbench within {:.1f} s",
                          to_string(launcher), std::chrono::duration<double>(timeout).count()),
              0, "handshake");
}

}  // namespace ddbench::launch
