#include "harness/collective/gloo/peer_watch.h"

#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/error.h"
#include "harness/collective/gloo/socket_counters.h"

namespace ddbench::collective::gloo_backend {

PeerWatch::PeerWatch(std::vector<PeerConnection> connections, std::function<void(const std::string&)> on_lost)
    : connections_(std::move(connections)),
      on_lost_(std::move(on_lost)),
      stop_(static_cast<int>(check_posix(eventfd(0, EFD_CLOEXEC), "eventfd"))),
      thread_([this] { watch(); }) {}

PeerWatch::~PeerWatch() {
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

void PeerWatch::read_links(std::vector<LinkCounters>& counters) const {
  counters.clear();
  for (const PeerConnection& connection : connections_) {
    if (connection.rank < 0) continue;
    if (const auto counted = read_counters(connection.socket.get())) {
      counters.push_back({connection.rank, counted->acknowledged_bytes, counted->busy_ns});
    }
  }
}

void PeerWatch::shut_down() noexcept {
  for (const PeerConnection& connection : connections_) ::shutdown(connection.socket.get(), SHUT_RDWR);
}

std::vector<pollfd> PeerWatch::watched_sockets() const {
  std::vector<pollfd> watched;
  for (const PeerConnection& connection : connections_)
    watched.push_back({connection.socket.get(), POLLRDHUP, 0});
  return watched;
}

std::string PeerWatch::lost_peer() const {
  std::vector<pollfd> watched = watched_sockets();
  if (poll(watched.data(), watched.size(), 0) <= 0) return {};
  const auto lost =
      std::find_if(watched.begin(), watched.end(), [](const pollfd& one) { return one.revents != 0; });
  return lost == watched.end() ? std::string()
                               : connections_[static_cast<std::size_t>(lost - watched.begin())].peer;
}

void PeerWatch::watch() {
  std::vector<pollfd> watched = watched_sockets();
  watched.push_back({stop_.get(), POLLIN, 0});
  for (;;) {
    if (poll(watched.data(), watched.size(), -1) < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      return;  // out of memory: collectives still end by their own timeouts
    }
    if (watched.back().revents != 0) return;
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      if (watched[i].revents == 0) continue;
      watched[i].fd = -1;
      on_lost_(connections_[i].peer);
    }
  }
}

}  // namespace ddbench::collective::gloo_backend
