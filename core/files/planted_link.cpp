#include "core/files/planted_link.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/error.h"

namespace ddbench {

bool is_planted_link(const std::filesystem::path& file) {
  struct stat link {}, folder {};
  const std::filesystem::path parent = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  if (::lstat(file.c_str(), &link) != 0 || !S_ISLNK(link.st_mode) || ::stat(parent.c_str(), &folder) != 0) return false;
  constexpr mode_t kOfAllUsers = S_ISVTX | S_IWOTH;
  if ((folder.st_mode & kOfAllUsers) != kOfAllUsers) return false;
  return link.st_uid != ::geteuid() && link.st_uid != folder.st_uid;
}

void refuse_planted_link(const std::filesystem::path& file) {
  if (!is_planted_link(file)) return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("{} is a symbolic link that another user has placed in a folder of all users: name a file in a "
                          "folder of your own",
                          file.string()),
              EACCES, file.string());
}

}  // namespace ddbench
