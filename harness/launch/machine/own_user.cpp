#include "harness/launch/machine/own_user.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/error.h"
#include "core/unique_handle.h"

namespace ddbench::launch {
namespace {

constexpr const char* kVariable = "DDBENCH_USER_OUTSIDE";

void write_map(const char* file, const std::string& content) {
  const UniqueFd fd(::open(file, O_WRONLY | O_CLOEXEC));
  if (!fd || ::write(fd.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size()))
    throw_errno(errno, fmt::format("a user namespace cannot be set up ({})", file), ErrorCode::kEnvironment);
}

}  // namespace

void map_user(UserIds inside, UserIds outside) {
  write_map("/proc/self/setgroups", "deny");
  write_map("/proc/self/uid_map", fmt::format("{} {} 1", inside.user, outside.user));
  write_map("/proc/self/gid_map", fmt::format("{} {} 1", inside.group, outside.group));
}

void remember_user(UserIds user) {
  ::setenv(kVariable, fmt::format("{} {}", user.user, user.group).c_str(), 1);
}

void become_remembered_user() {
  const char* const text = std::getenv(kVariable);
  UserIds user;
  const bool is_known = text != nullptr && std::sscanf(text, "%u %u", &user.user, &user.group) == 2;
  ::unsetenv(kVariable);
  if (!is_known) return;
  const UserIds here{::geteuid(), ::getegid()};
  if (::unshare(CLONE_NEWUSER) != 0) return;
  try {
    map_user(user, here);
  } catch (const Error&) {  // then nobody, who can still read what the user can
  }
}

}  // namespace ddbench::launch
