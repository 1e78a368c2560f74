#include "harness/launch/trust/user_secret.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "core/error.h"
#include "core/unique_handle.h"
#include "harness/launch/trust/run_token.h"

namespace ddbench::launch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSecretBytes = 32;  // of new_token()

void require_private(int file, const fs::path& path) {
  struct stat status {};
  check_posix(::fstat(file, &status), "cannot read " + path.string(), ErrorCode::kEnvironment);
  if (S_ISREG(status.st_mode) && status.st_uid == ::geteuid() && (status.st_mode & 077) == 0) return;
  throw Error(ErrorCode::kEnvironment,
              fmt::format("{} holds the secret of this user's ranks, but others may have read or written it: "
                          "remove it, or give the ranks another secret with {}",
                          path.string(), kTokenVariable),
              0, path.string());
}

/// Empty: there is none, or only a part of one.
std::string read(const fs::path& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file) return {};
  require_private(file.get(), path);
  std::array<char, kSecretBytes> bytes{};
  const ssize_t count = ::read(file.get(), bytes.data(), bytes.size());
  return count == static_cast<ssize_t>(kSecretBytes) ? std::string(bytes.data(), bytes.size())
                                                     : std::string();
}

/// Written under a temporary name first: a reader of the file under its final name sees it complete.
void make(const fs::path& path) {
  const std::string secret = new_token();
  const fs::path mine = fmt::format("{}.{}", path.string(), new_token());
  const UniqueFd file(::open(mine.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return;
  const bool written = ::fchmod(file.get(), 0600) == 0 && ::write(file.get(), secret.data(), secret.size()) ==
                                                              static_cast<ssize_t>(secret.size());
  if (written) static_cast<void>(!::link(mine.c_str(), path.c_str()));  // or another rank was first
  ::unlink(mine.c_str());
}

}  // namespace

std::string user_secret(const fs::path& directory) {
  const fs::path path = directory / "launch-secret";
  std::string secret = read(path);
  if (!secret.empty()) return secret;
  std::error_code impossible;
  fs::create_directories(directory, impossible);
  make(path);
  return read(path);
}

}  // namespace ddbench::launch
