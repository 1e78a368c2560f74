#pragma once

#include <poll.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "harness/collective/communicator.h"
#include "harness/collective/gloo/mesh_sockets.h"

namespace ddbench::collective::gloo_backend {

/// A connection of the mesh and its peer ("rank 3 at 10.77.0.2:4711").
struct PeerConnection {
  UniqueFd socket;
  std::string peer;
  int rank = -1;  ///< of the peer; -1: not known
};

/// A thread that sleeps until a peer closes its end of a connection, and then reports it. Costs nothing until
/// then.
class PeerWatch {
 public:
  /// `on_lost` is called on the watching thread, once for each connection that is lost.
  PeerWatch(std::vector<PeerConnection> connections, std::function<void(const std::string& peer)> on_lost);
  ~PeerWatch();
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;

  /// The peer of the first connection that is lost by now, or empty. Any thread, returns at once.
  std::string lost_peer() const;

  /// Communicator::read_links.
  void read_links(std::vector<LinkCounters>& counters) const;

  /// Shuts all connections down, so that the ranks at the other ends notice at once. Any thread.
  void shut_down() noexcept;

 private:
  std::vector<pollfd> watched_sockets() const;
  void watch();

  std::vector<PeerConnection> connections_;
  std::function<void(const std::string&)> on_lost_;
  UniqueFd stop_;  // eventfd
  std::thread thread_;
};

}  // namespace ddbench::collective::gloo_backend
