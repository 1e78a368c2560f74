#pragma once

#include <string>
#include <vector>

#include "core/unique_handle.h"
#include "harness/collective/communicator.h"

namespace ddbench::collective::nccl_backend {

/// What a rank tells the others before NCCL starts.
struct RankPlace {
  std::string host;     ///< of the kernel, whatever the namespace
  std::string address;  ///< CommunicatorOptions::address
  std::string gpu;      ///< its UUID

  std::string text() const;
  static RankPlace parse(const std::string& text);
};

/// What NCCL must take for this rank's host, or nothing where its own notion is right. NCCL refuses ranks of
/// one host on one GPU; ranks that share one count as hosts of their own and talk over the network. So do the
/// nodes that network namespaces make of one machine, or NCCL would go past the links between them.
std::string host_id(const std::vector<RankPlace>& places, int rank);

/// Has NCCL tell by which ways its ranks reach each other while it lives: until the communicator has
/// connected. Does nothing where the user directs NCCL's log.
class TransportLog {
 public:
  TransportLog();

  /// "NET/Socket/0, P2P/CUMEM": the network first. "unknown: ..." where NCCL did not tell.
  std::string transports() const;

 private:
  UniqueFd memory_;  // NCCL opens it by its name in /proc
};

}  // namespace ddbench::collective::nccl_backend
