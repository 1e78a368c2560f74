#pragma once

#include <cstdint>
#include <optional>

namespace ddbench::collective::gloo_backend {

struct SocketCounters {
  std::uint64_t acknowledged_bytes = 0;
  std::int64_t busy_ns = 0;  ///< as LinkCounters
};

/// The counters of TCP_INFO for a connected socket; nothing if the kernel (before 4.10) does not provide
/// them.
std::optional<SocketCounters> read_counters(int socket) noexcept;

}  // namespace ddbench::collective::gloo_backend
