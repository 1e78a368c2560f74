#pragma once

#include <cstdint>
#include <optional>

namespace ddbench::collective::gloo_backend {

struct SocketCounters {
  std::uint64_t acknowledged_bytes = 0;
  std::int64_t busy_ns = 0;  ///< as LinkCounters
};

/// What TCP_INFO says of a connected socket; nothing where the kernel (before 4.10) does not count it.
std::optional<SocketCounters> read_counters(int socket) noexcept;

}  // namespace ddbench::collective::gloo_backend
