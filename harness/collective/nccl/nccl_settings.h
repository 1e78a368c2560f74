#pragma once

#include <string>
#include <vector>

#include "core/unique_handle.h"
#include "harness/collective/communicator.h"

namespace ddbench::collective::nccl_backend {

/// The information that a rank sends to the others before NCCL starts.
struct RankPlace {
  std::string host;     ///< of the kernel, whatever the namespace
  std::string address;  ///< CommunicatorOptions::address
  std::string gpu;      ///< its UUID

  std::string text() const;
  static RankPlace parse(const std::string& text);
};

/// The host identity that NCCL must use for this rank, or nothing if its own detection is right. NCCL refuses
/// several ranks of one host on one GPU; ranks that share one count as separate hosts and communicate over
/// the network. So do the nodes that network namespaces make of one machine; otherwise NCCL would bypass the
/// links between them.
std::string host_id(const std::vector<RankPlace>& places, int rank);

/// Makes NCCL log, while this object lives, the transports by which its ranks reach each other: keep it until
/// the communicator has connected. Does nothing if the user redirects NCCL's log.
class TransportLog {
 public:
  TransportLog();

  /// "NET/Socket/0, P2P/CUMEM": the network first. "unknown: ..." if NCCL did not log them.
  std::string transports() const;

 private:
  UniqueFd memory_;  // NCCL opens it by its name in /proc
};

}  // namespace ddbench::collective::nccl_backend
