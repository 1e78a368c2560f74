#pragma once

#include <sys/socket.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/unique_handle.h"

namespace ddbench::collective::gloo_backend {

/// Identity of an open socket: descriptor and inode. A descriptor alone may be closed and taken again.
using SocketIdentity = std::pair<int, unsigned long>;

/// The TCP sockets that this process has open now.
std::set<SocketIdentity> open_tcp_sockets();

/// One connection of the mesh. `socket` is our own duplicate: Gloo may close its descriptor at any time.
struct MeshSocket {
  UniqueFd socket;
  std::string local;  ///< "10.77.0.1:4711"
  std::string peer;
};

/// "10.77.0.1:4711" or "[fe80::1]:4711"; empty for an address that is neither IPv4 nor IPv6.
std::string to_text(const sockaddr_storage& address);

/// Duplicates of the connected TCP sockets that are open now and are not among `before`.
std::vector<MeshSocket> connected_since(const std::set<SocketIdentity>& before);

}  // namespace ddbench::collective::gloo_backend
