#include "analyzer/store/maintenance/shared_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <system_error>

#include "analyzer/store/rows/run_store.h"
#include "core/error.h"
#include "core/files/owned_directory.h"
#include "core/text/number.h"
#include "core/text/shell_words.h"
#include "core/unique_handle.h"

namespace ddbench::store {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kFileMode = 0660;
constexpr mode_t kDirectoryMode = 02770;
constexpr mode_t kRunFoldersMode = 03770;
constexpr std::size_t kGroupBytes = 64 * 1024;  // with the names of its members

std::optional<struct stat> status_of(const fs::path& path) noexcept {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? std::optional(info) : std::nullopt;
}

std::string group_name(gid_t number) {
  std::string buffer(kGroupBytes, '\0');
  group entry{};
  group* found = nullptr;
  if (::getgrgid_r(number, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
    return found->gr_name;
  return std::to_string(number);
}

gid_t group_number(const std::string& name) {
  std::string buffer(kGroupBytes, '\0');
  group entry{};
  group* found = nullptr;
  if (::getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
    return found->gr_gid;
  if (const auto number = number_from<gid_t>(name)) return *number;
  throw Error(ErrorCode::kBadInput, fmt::format("there is no group \"{}\" (`id -nG` lists yours)", name), 0,
              name);
}

[[noreturn]] void fail(const char* what, const fs::path& path) {
  const std::string hint =
      errno == EPERM ? "; only members of a group can share with it (`id -nG` lists yours)" : "";
  throw Error(
      ErrorCode::kEnvironment,
      fmt::format("cannot {} {}: {}{}", what, path.string(), std::generic_category().message(errno), hint),
      errno, path.string());
}

/// As asked for, whatever the umask is.
void give_to_group(const UniqueFd& fd, gid_t group, mode_t mode, const fs::path& path) {
  if (::fchown(fd.get(), static_cast<uid_t>(-1), group) != 0) fail("change the group of", path);
  if (::fchmod(fd.get(), mode) != 0) fail("change the mode of", path);
}

UniqueFd open_directory(const fs::path& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) fail("open the directory", path);
  return fd;
}

/// Returns the group of the directory that is there now.
gid_t make_directories(const fs::path& directory, std::optional<gid_t> group) {
  if (const auto info = status_of(directory); info || !directory.has_relative_path())
    return info ? info->st_gid : ::getegid();
  make_directories(directory.parent_path(), group);
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) fail("create the directory", directory);
  const auto info = status_of(directory);
  const gid_t owner = group.value_or(info ? info->st_gid : ::getegid());
  give_to_group(open_directory(directory), owner, kDirectoryMode, directory);
  return owner;
}

void require_suitable(const fs::path& directory, gid_t group) {
  const auto info = status_of(directory);
  if (info && info->st_gid == group && (info->st_mode & kDirectoryMode) == kDirectoryMode) return;
  const std::string name = group_name(group);
  throw Error(ErrorCode::kEnvironment,
              fmt::format("files that others create in {0} would not be those of group {1}: `{2} && {3}`, or "
                          "name a directory that is not there yet",
                          directory.string(), name, shell_words({"chgrp", name, directory.string()}),
                          shell_words({"chmod", "u+rwx,g+rwxs", directory.string()})),
              0, directory.string());
}

}  // namespace

bool is_shared(const fs::path& file) noexcept {
  const auto info = status_of(file);
  return info && (info->st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

std::string group_of(const fs::path& file) {
  const auto info = status_of(file);
  return info ? group_name(info->st_gid) : std::string();
}

void create_shared_store(const fs::path& file, const std::string& group) {
  const fs::path directory = fs::absolute(file).parent_path();
  const std::optional<gid_t> wanted = group.empty() ? std::nullopt : std::optional(group_number(group));
  const gid_t owner = wanted.value_or(make_directories(directory, wanted));
  make_directories(directory, wanted);
  require_suitable(directory, owner);
  UniqueFd created(::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!created && errno == EEXIST) {
    const std::string what_to_do =
        is_shared(file) ? fmt::format("its group {} may write it already: name it with --db or DDBENCH_DB", group_of(file))
                        : fmt::format("`{}` lets the group of its directory write it", shell_words({"chmod", "g+rw", file.string()}));
    throw Error(ErrorCode::kBadInput, fmt::format("{} is there already; {}", file.string(), what_to_do), EEXIST, file.string());
  }
  if (!created) fail("create", file);
  give_to_group(created, owner, kFileMode, file);
  created.reset();  // before SQLite has locks, which it would end
  RunStore::open(file, OpenMode::kReadWrite);
}

void refuse_link(const fs::path& store, const fs::path& folder) {
  std::error_code ignored;
  if (!is_shared(store) || !fs::is_symlink(folder, ignored)) return;
  throw Error(ErrorCode::kEnvironment,
              fmt::format("{}: this is a symbolic link, not a directory of ddbench", folder.string()), 0,
              folder.string());
}

void make_folder_beside(const fs::path& store, const fs::path& folder) {
  refuse_link(store, folder);
  static_cast<void>(::mkdir(folder.c_str(), 0700));
  const auto shared = is_shared(store) ? status_of(store) : std::nullopt;
  if (!shared) {
    OwnedDirectory::open(folder);  // refuses another user's
    return;
  }
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0 || info.st_uid != ::geteuid()) return;
  if (info.st_gid != shared->st_gid) static_cast<void>(::fchown(fd.get(), static_cast<uid_t>(-1), shared->st_gid));
  if ((info.st_mode & 07777) != kRunFoldersMode) static_cast<void>(::fchmod(fd.get(), kRunFoldersMode));
}

void make_in_folder_beside(const fs::path& store, const fs::path& folder, const std::string& purpose) {
  constexpr int kAttempts = 10;
  for (int attempt = 1;; ++attempt) {
    make_folder_beside(store, folder.parent_path());
    try {
      OwnedDirectory::make_marked(folder, purpose);
      return;
    } catch (const Error& error) {
      if (error.native_code() != ENOENT || attempt == kAttempts) throw;
    }
  }
}

}  // namespace ddbench::store
