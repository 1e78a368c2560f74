#include "harness/collective/gloo/mesh_sockets.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/stat.h>

#include <cstdlib>

#include "core/error.h"

namespace ddbench::collective::gloo_backend {
namespace {

using Directory = UniqueHandle<DIR, closedir>;

bool is_tcp(int fd) {
  int domain = 0;
  int type = 0;
  socklen_t length = sizeof(int);
  if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) != 0) return false;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) != 0) return false;
  return (domain == AF_INET || domain == AF_INET6) && type == SOCK_STREAM;
}

using NameFunction = int (*)(int, sockaddr*, socklen_t*);

std::string address(int fd, NameFunction name) {
  sockaddr_storage storage{};
  socklen_t length = sizeof(storage);
  if (name(fd, reinterpret_cast<sockaddr*>(&storage), &length) != 0) return {};
  return to_text(storage);
}

}  // namespace

std::string to_text(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &in.sin_addr, text, sizeof(text));
    return fmt::format("{}:{}", text, ntohs(in.sin_port));
  }
  if (address.ss_family == AF_INET6) {
    const auto& in6 = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &in6.sin6_addr, text, sizeof(text));
    return fmt::format("[{}]:{}", text, ntohs(in6.sin6_port));
  }
  return {};
}

std::set<SocketIdentity> open_tcp_sockets() {
  const Directory directory(opendir("/proc/self/fd"));
  if (!directory) throw_errno(errno, "read /proc/self/fd", ErrorCode::kEnvironment);
  std::set<SocketIdentity> sockets;
  while (const dirent* const entry = readdir(directory.get())) {
    const int fd = std::atoi(entry->d_name);  // "." and ".." become 0, which is no TCP socket of a mesh
    struct stat status {};
    if (is_tcp(fd) && fstat(fd, &status) == 0) sockets.emplace(fd, status.st_ino);
  }
  return sockets;
}

std::vector<MeshSocket> connected_since(const std::set<SocketIdentity>& before) {
  std::vector<MeshSocket> mesh;
  for (const SocketIdentity& identity : open_tcp_sockets()) {
    if (before.contains(identity)) continue;
    std::string peer = address(identity.first, getpeername);
    if (peer.empty()) continue;  // listening, or already closed again
    UniqueFd duplicate(fcntl(identity.first, F_DUPFD_CLOEXEC, 0));
    if (duplicate)
      mesh.push_back({std::move(duplicate), address(identity.first, getsockname), std::move(peer)});
  }
  return mesh;
}

}  // namespace ddbench::collective::gloo_backend
