// Apart, as the kernel's own <linux/tcp.h>, which has the newer counters, does not go with <netinet/tcp.h>.
#include "harness/collective/gloo/socket_counters.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>

namespace ddbench::collective::gloo_backend {

std::optional<SocketCounters> read_counters(int socket) noexcept {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return std::nullopt;
  constexpr std::size_t kNeeded = offsetof(tcp_info, tcpi_rwnd_limited) + sizeof info.tcpi_rwnd_limited;
  if (length < kNeeded) return std::nullopt;
  constexpr std::int64_t kNsPerMicrosecond = 1000;
  const auto busy = static_cast<std::int64_t>(info.tcpi_busy_time) - static_cast<std::int64_t>(info.tcpi_rwnd_limited);
  return SocketCounters{info.tcpi_bytes_acked, busy > 0 ? busy * kNsPerMicrosecond : 0};
}

}  // namespace ddbench::collective::gloo_backend
