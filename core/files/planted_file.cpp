#include "core/files/planted_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "core/error.h"

namespace ddbench {

namespace {

/// "a symbolic link" or "a FIFO", where another user has placed one; empty: not so.
std::string_view planted_kind(const std::filesystem::path& file) {
  struct stat placed {}, folder {};
  const std::filesystem::path parent = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  if (::lstat(file.c_str(), &placed) != 0 || ::stat(parent.c_str(), &folder) != 0) return {};
  constexpr mode_t kOfAllUsers = S_ISVTX | S_IWOTH;
  if ((folder.st_mode & kOfAllUsers) != kOfAllUsers) return {};
  if (placed.st_uid == ::geteuid() || placed.st_uid == folder.st_uid) return {};
  return S_ISLNK(placed.st_mode) ? "a symbolic link" : S_ISFIFO(placed.st_mode) ? "a FIFO" : "";
}

}  // namespace

bool is_planted_file(const std::filesystem::path& file) {
  return !planted_kind(file).empty();
}

void refuse_planted_file(const std::filesystem::path& file) {
  const std::string_view kind = planted_kind(file);
  if (kind.empty()) return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("{} is {} that another user has placed in a folder of all users: name a file in a folder of your own",
                          file.string(), kind),
              EACCES, file.string());
}

}  // namespace ddbench
