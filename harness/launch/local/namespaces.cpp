#include "harness/launch/local/namespaces.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "core/error.h"

namespace ddbench::launch {
namespace {

void write_map(const char* file, const std::string& content) {
  const UniqueFd fd(::open(file, O_WRONLY | O_CLOEXEC));
  if (!fd || ::write(fd.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size()))
    throw_errno(errno, fmt::format("a user namespace cannot be set up ({})", file), ErrorCode::kEnvironment);
}

[[noreturn]] void refuse(int error) {
  int restricted = 0;
  std::ifstream("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") >> restricted;
  std::string text = "this user may not make namespaces";
  if (restricted != 0) text += " (kernel.apparmor_restrict_unprivileged_userns is 1; root may)";
  throw_errno(error, text, ErrorCode::kEnvironment);
}

}  // namespace

bool enter_own_namespaces(bool with_network) {
  const int wanted = CLONE_NEWPID | (with_network ? CLONE_NEWNET : 0);
  if (::unshare(wanted) == 0) return false;
  if (errno != EPERM) throw_errno(errno, "namespaces cannot be made", ErrorCode::kEnvironment);
  if (!with_network) refuse(errno);
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(CLONE_NEWUSER | wanted) != 0) refuse(errno);
  write_map("/proc/self/setgroups", "deny");
  write_map("/proc/self/uid_map", fmt::format("0 {} 1", user));
  write_map("/proc/self/gid_map", fmt::format("0 {} 1", group));
  return true;
}

void bring_loopback_up() {
  const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP;
  if (!socket || ::ioctl(socket.get(), SIOCSIFFLAGS, &request) != 0) {
    // AppArmor lets a user make a namespace, and then gives no rights in it.
    if (errno == EPERM) refuse(EPERM);
    throw_errno(errno, "lo of a new network namespace cannot be used", ErrorCode::kEnvironment);
  }
}

UniqueFd current_network_namespace() {
  return UniqueFd(static_cast<int>(check_posix(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC),
                                               "/proc/thread-self/ns/net", ErrorCode::kEnvironment)));
}

UniqueFd make_network_namespace() {
  const UniqueFd home = current_network_namespace();
  check_posix(::unshare(CLONE_NEWNET), "a node's network namespace cannot be made", ErrorCode::kEnvironment);
  UniqueFd made = current_network_namespace();
  check_posix(::setns(home.get(), CLONE_NEWNET), "setns", ErrorCode::kEnvironment);
  return made;
}

}  // namespace ddbench::launch
