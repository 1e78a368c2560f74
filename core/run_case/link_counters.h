#pragma once

#include <string>

namespace ddbench {

/// Scalars of some steps of a rank, about its connections to other ranks, counted from 0 in the order in which they were first
/// used. Sums since the connection was made, as the kernel of the sending side counts them (collective::LinkCounters).
inline std::string link_peer_name(int link) { return "link." + std::to_string(link) + ".peer"; }
inline std::string link_bytes_name(int link) { return "link." + std::to_string(link) + ".sent_bytes"; }
inline std::string link_busy_name(int link) { return "link." + std::to_string(link) + ".busy_ns"; }

}  // namespace ddbench
