// Measures the network between rank 0 and the last rank: the last one streams to rank 0 over TCP, rank 0
// writes "<bytes per second>\n" on its control socket. Ends when the stream does. Ranks in between do
// nothing. A rank that is given an interface which its network lacks ends at once.

#include <arpa/inet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "core/clock.h"

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kWarmUpBytes = 1 << 20;  // what token buckets and socket buffers let pass at once

sockaddr_in server_address(bool any) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = ::htons(static_cast<std::uint16_t>(std::atoi(std::getenv("MASTER_PORT"))));
  address.sin_addr.s_addr = any ? INADDR_ANY : ::inet_addr(std::getenv("MASTER_ADDR"));
  return address;
}

std::string receive() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = server_address(true);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return "bind failed\n";
  ::listen(listener, 1);
  const int peer = ::accept(listener, nullptr, nullptr);
  std::vector<char> buffer(1 << 16);
  std::size_t total = 0;
  std::size_t counted = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  for (ssize_t count = 0; (count = ::recv(peer, buffer.data(), buffer.size(), 0)) > 0;) {
    total += static_cast<std::size_t>(count);
    if (total < kWarmUpBytes) continue;
    end_ns = ddbench::now_ns();
    if (begin_ns == 0)
      begin_ns = end_ns;
    else
      counted += static_cast<std::size_t>(count);
  }
  if (end_ns == begin_ns) return "too little was received\n";
  return std::to_string(static_cast<double>(counted) / (static_cast<double>(end_ns - begin_ns) * 1e-9)) +
         "\n";
}

int stream(std::size_t bytes) {
  const sockaddr_in address = server_address(false);
  for (int attempt = 0; attempt < 500; ++attempt) {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      const std::vector<char> buffer(1 << 16);
      for (std::size_t sent = 0; sent < bytes;) {
        const ssize_t count = ::send(socket, buffer.data(), buffer.size(), MSG_NOSIGNAL);
        if (count <= 0) return 1;
        sent += static_cast<std::size_t>(count);
      }
      return 0;
    }
    ::close(socket);
    std::this_thread::sleep_for(10ms);
  }
  return 1;
}

bool has_its_interface() {
  const char* const name = std::getenv("NCCL_SOCKET_IFNAME");
  return name == nullptr || ::if_nametoindex(name) != 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int control_fd = std::atoi(argv[argc - 1]);
  const int rank = std::atoi(std::getenv("RANK"));
  if (!has_its_interface()) return 1;
  if (rank == 0) {
    const std::string rate = receive();
    return ::write(control_fd, rate.data(), rate.size()) > 0 ? 0 : 1;
  }
  if (rank + 1 < std::atoi(std::getenv("WORLD_SIZE"))) return 0;
  return stream(static_cast<std::size_t>(std::atoll(std::getenv("NETWORK_TEST_BYTES"))));
}
