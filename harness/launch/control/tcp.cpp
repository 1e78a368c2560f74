#include "harness/launch/control/tcp.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <thread>

#include "core/error.h"
#include "core/text/number.h"

namespace ddbench::launch {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using AddressList = UniqueHandle<addrinfo, ::freeaddrinfo>;
using InterfaceList = UniqueHandle<ifaddrs, ::freeifaddrs>;

constexpr auto kBetweenTries = 100ms;
constexpr auto kOneTry = 5s;
constexpr int kReceiveBuffer_bytes = 128
                                     << 10;  // a launcher has hundreds: what is not read waits at the sender
constexpr unsigned kUnansweredFor_ms = 60'000;  // then the peer's machine counts as dead

AddressList look_up(const std::string& host, int port, int socket_type) {
  addrinfo wanted{};
  wanted.ai_socktype = socket_type;
  wanted.ai_family = AF_UNSPEC;
  addrinfo* found = nullptr;
  const int status = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (status != 0) {
    throw Error(ErrorCode::kEnvironment,
                fmt::format("the host {} is not known here: {}", host, ::gai_strerror(status)), status, host);
  }
  return AddressList(found);
}

UniqueFd socket_for(const addrinfo& address) {
  return UniqueFd(static_cast<int>(
      check_posix(::socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC, address.ai_protocol),
                  "no socket can be made", ErrorCode::kEnvironment)));
}

Endpoint text_of(const sockaddr_storage& address) {
  char host[NI_MAXHOST] = {};
  char port[NI_MAXSERV] = {};
  const int status = ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), sizeof address, host,
                                   sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
  return status == 0 ? Endpoint{host, std::atoi(port)} : Endpoint{"?", 0};
}

/// Messages are small and waited for, and a machine that died says nothing.
void tune(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  // An end that only waits learns of the other's death by these.
  constexpr int kIdle_s = 30, kEvery_s = 10, kProbes = 3;
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &kIdle_s, sizeof kIdle_s);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &kEvery_s, sizeof kEvery_s);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &kProbes, sizeof kProbes);
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnansweredFor_ms, sizeof kUnansweredFor_ms);
}

/// 0, or the errno of the try.
int try_to_connect(const addrinfo& address, UniqueFd& connected) {
  UniqueFd socket = socket_for(address);
  const timeval patience{std::chrono::seconds(kOneTry).count(), 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (::connect(socket.get(), address.ai_addr, address.ai_addrlen) != 0) return errno;
  tune(socket.get());
  connected = std::move(socket);
  return 0;
}

}  // namespace

std::string to_string(const Endpoint& endpoint) {
  const bool brackets = endpoint.address.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", brackets ? "[" : "", endpoint.address, brackets ? "]" : "", endpoint.port);
}

Endpoint endpoint_from(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const auto port =
      colon == std::string::npos ? std::nullopt : number_from<int>(std::string_view(text).substr(colon + 1));
  if (!port || *port < 0 || *port > 65535) {
    throw Error(ErrorCode::kBadInput, fmt::format("\"{}\" is no address and port", text));
  }
  Endpoint endpoint{text.substr(0, colon), *port};
  if (endpoint.address.starts_with('[') && endpoint.address.ends_with(']')) {
    endpoint.address = endpoint.address.substr(1, endpoint.address.size() - 2);
  }
  return endpoint;
}

UniqueFd listen_at(const Endpoint& endpoint) {
  const AddressList address = look_up(endpoint.address, endpoint.port, SOCK_STREAM);
  UniqueFd socket = socket_for(*address);
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // Inherited by every connection.
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer_bytes, sizeof kReceiveBuffer_bytes);
  const bool listens = ::bind(socket.get(), address->ai_addr, address->ai_addrlen) == 0 &&
                       ::listen(socket.get(), SOMAXCONN) == 0;
  if (listens) return socket;
  const int error = errno;
  const char* advice = "";
  if (error == EADDRINUSE) advice = "; another job has it: choose another one with --port";
  if (error == EADDRNOTAVAIL) advice = "; it is none of this machine's: name its interface with --interface";
  throw Error(ErrorCode::kEnvironment,
              fmt::format("the ranks' reports cannot be taken at {}: {}{}", to_string(endpoint),
                          std::generic_category().message(error), advice),
              error, "listen");
}

UniqueFd accept_connection(int listener) {
  pollfd waiting{listener, POLLIN, 0};
  if (::poll(&waiting, 1, 0) <= 0) return {};
  UniqueFd connection(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  if (connection) tune(connection.get());
  return connection;
}

UniqueFd connect_to(const Endpoint& endpoint, std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  std::string last;
  do {
    try {
      const AddressList addresses = look_up(endpoint.address, endpoint.port, SOCK_STREAM);
      for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) {
        UniqueFd connected;
        const int error = try_to_connect(*address, connected);
        if (error == 0) return connected;
        last = std::generic_category().message(error);
      }
    } catch (const Error& unknown) {
      last = unknown.message();  // names of a cluster may come up after its nodes
    }
    std::this_thread::sleep_for(kBetweenTries);
  } while (Clock::now() < deadline);
  throw Error(
      ErrorCode::kEnvironment,
      fmt::format("the launcher cannot be reached at {} within {:.1f} s: {}. Does it run, and does no "
                  "firewall stand between?",
                  to_string(endpoint), std::chrono::duration<double>(timeout).count(), last),
      0, "connect");
}

Endpoint local_end(int socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length);
  return text_of(address);
}

Endpoint remote_end(int socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  ::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &length);
  return text_of(address);
}

std::string address_of_interface(const std::string& name) {
  ifaddrs* first = nullptr;
  check_posix(::getifaddrs(&first), "the network interfaces cannot be listed", ErrorCode::kEnvironment);
  const InterfaceList interfaces(first);
  std::string known;
  for (const int family : {AF_INET, AF_INET6}) {
    for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
      if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != family) continue;
      sockaddr_storage address{};
      std::memcpy(&address, each->ifa_addr, family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
      if (name == each->ifa_name) return text_of(address).address;
      if (family == AF_INET) known += (known.empty() ? "" : ", ") + std::string(each->ifa_name);
    }
  }
  throw Error(ErrorCode::kBadInput,
              fmt::format("--interface {}: there is no such interface with an address here; there are {}",
                          name, known));
}

std::string address_towards(const std::string& host) {
  const AddressList address = look_up(host, 9, SOCK_DGRAM);
  const UniqueFd socket = socket_for(*address);
  check_posix(::connect(socket.get(), address->ai_addr, address->ai_addrlen),
              fmt::format("no route to host {}", host), ErrorCode::kEnvironment);
  return local_end(socket.get()).address;
}

}  // namespace ddbench::launch
