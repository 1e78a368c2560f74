#include "core/files/owned_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/error.h"

namespace ddbench {
namespace {

namespace fs = std::filesystem;

constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr int kDeepest = 32;  // a descriptor a level; ddbench itself makes three levels
constexpr mode_t kPrivate = 0700;

[[noreturn]] void refuse(const fs::path& path, const std::string& why, int native = 0) {
  throw Error(ErrorCode::kEnvironment, fmt::format("{}: {}", path.string(), why), native, path.string());
}

[[noreturn]] void fail(const char* what, const fs::path& path) {
  throw_errno(errno, fmt::format("cannot {} {}", what, path.string()), ErrorCode::kEnvironment);
}

struct stat status_of(int fd, const fs::path& path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) fail("inspect", path);
  return info;
}

void check_component(const std::string& name, const fs::path& parent) {
  const bool is_component =
      !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
  if (!is_component)
    refuse(parent, fmt::format("\"{}\" is not the name of an entry of this directory", name));
}

std::vector<std::string> names_in(int directory, const fs::path& path) {
  const int copy = ::openat(directory, ".", kDirectoryFlags);  // of its own position
  const UniqueHandle<DIR, closedir> stream(copy < 0 ? nullptr : ::fdopendir(copy));
  if (!stream) fail("read the directory", path);
  std::vector<std::string> names;
  for (errno = 0; const dirent* entry = ::readdir(stream.get()); errno = 0) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  if (errno != 0) fail("read the directory", path);
  return names;
}

/// False when somebody has put something there.
bool remove_empty(int directory, const std::string& name, const fs::path& path) {
  if (::unlinkat(directory, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return true;
  if (errno == ENOTEMPTY || errno == EEXIST) return false;
  fail("remove the directory", path);
}

/// Visits the contents of a directory, within one file system.
class Walk {
 public:
  Walk(const IsOurs& is_ours, dev_t device, bool removes)
      : is_ours_(is_ours), device_(device), removes_(removes) {}

  /// True when the directory is (or, not removing, would be) empty afterwards.
  bool content(int directory, const fs::path& path, const std::string& prefix = "", int depth = 0) {
    if (depth > kDeepest) refuse(path, "directories are nested too deeply");
    if (status_of(directory, path).st_dev != device_) return is_foreign(prefix);
    bool is_empty = true;
    bool is_marked = false;
    for (const std::string& name : names_in(directory, path)) {
      // The marker goes last, so that a removal that is cut short can be continued.
      if (depth == 0 && name == kDirectoryMarker) {
        is_marked = true;
      } else {
        is_empty = entry(directory, name, path / name, prefix + name, depth) && is_empty;
      }
    }
    if (is_empty && is_marked) remove_file(directory, kDirectoryMarker, path / kDirectoryMarker);
    return is_empty;
  }
  const std::string& first_foreign() const noexcept { return first_foreign_; }

 private:
  bool entry(int directory, const std::string& name, const fs::path& path, const std::string& relative,
             int depth) {
    struct stat info {};
    if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return true;
      fail("inspect", path);
    }
    const bool is_directory = S_ISDIR(info.st_mode);
    if (is_ours_ && !is_ours_(is_directory ? relative + "/" : relative)) return is_foreign(relative);
    if (!is_directory) {
      remove_file(directory, name, path);
      return true;
    }
    const UniqueFd child(::openat(directory, name.c_str(), kDirectoryFlags));
    if (!child && errno == ENOENT) return true;
    if (!child) fail("open the directory", path);
    return content(child.get(), path, relative + "/", depth + 1) &&
           (!removes_ || remove_empty(directory, name, path));
  }

  void remove_file(int directory, const std::string& name, const fs::path& path) const {
    if (removes_ && ::unlinkat(directory, name.c_str(), 0) != 0 && errno != ENOENT) fail("remove", path);
  }

  bool is_foreign(const std::string& relative) {
    if (first_foreign_.empty()) first_foreign_ = relative;
    return false;
  }

  const IsOurs& is_ours_;
  dev_t device_;
  bool removes_;
  std::string first_foreign_;
};

UniqueFd open_parent(const fs::path& path) {
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  UniqueFd fd(::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd && errno != ENOENT) fail("open the directory", parent);
  return fd;
}

}  // namespace

std::optional<OwnedDirectory> OwnedDirectory::open_at(UniqueFd parent, fs::path path) {
  const std::string name = path.filename().string();
  check_component(name, path.parent_path());
  UniqueFd fd(parent ? ::openat(parent.get(), name.c_str(), kDirectoryFlags) : -1);
  if (!parent || (!fd && errno == ENOENT)) return std::nullopt;
  if (!fd) {
    const int error = errno;
    struct stat info {};
    if (::fstatat(parent.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(info.st_mode)) {
      refuse(path,
             S_ISLNK(info.st_mode) ? "this is a symbolic link, not a directory of ddbench"
                                   : "this is no directory",
             error);
    }
    errno = error;
    fail("open the directory", path);
  }
  const uid_t owner = status_of(fd.get(), path).st_uid;
  if (owner != ::geteuid())
    refuse(path, fmt::format("this directory belongs to another user (uid {})", owner));
  return OwnedDirectory(std::move(path), std::move(parent), std::move(fd));
}

std::optional<OwnedDirectory> OwnedDirectory::open(const fs::path& path) {
  return open_at(open_parent(path), path);
}

std::optional<OwnedDirectory> OwnedDirectory::open_in(const fs::path& parent, const std::string& name) {
  check_component(name, parent);
  UniqueFd fd(::open(parent.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd && errno == ENOTDIR) refuse(parent, "this is no directory, or a symbolic link", ENOTDIR);
  if (!fd && errno != ENOENT) fail("open the directory", parent);
  return open_at(std::move(fd), parent / name);
}

std::optional<OwnedDirectory> OwnedDirectory::open_child(const std::string& name) const {
  check_component(name, path_);
  UniqueFd parent(::fcntl(fd(), F_DUPFD_CLOEXEC, 0));
  if (!parent) fail("open the directory", path_);
  return open_at(std::move(parent), path_ / name);
}

OwnedDirectory OwnedDirectory::make(const fs::path& path) {
  if (::mkdir(path.c_str(), kPrivate) != 0 && errno != EEXIST) fail("make the directory", path);
  std::optional<OwnedDirectory> directory = open(path);
  if (!directory) {
    errno = ENOENT;
    fail("open the directory", path);
  }
  return std::move(*directory);
}

OwnedDirectory OwnedDirectory::make_marked(const fs::path& path, const std::string& purpose) {
  const bool is_new = ::mkdir(path.c_str(), kPrivate) == 0;
  OwnedDirectory directory = make(path);
  try {
    if (is_new) directory.mark(purpose, path.filename().string());
  } catch (const Error&) {
    ::unlinkat(directory.fd(), kDirectoryMarker, 0);
    directory.remove_if_empty();
    throw;
  }
  return directory;
}

unsigned OwnedDirectory::mode() const {
  return status_of(fd(), path_).st_mode & 07777U;
}

std::vector<std::string> OwnedDirectory::entries() const {
  return names_in(fd(), path_);
}

std::string directory_marker_text(const std::string& purpose, const std::string& name) {
  return fmt::format("ddbench {} {}\n", purpose, name);
}

void OwnedDirectory::mark(const std::string& purpose, const std::string& name) const {
  const std::string text = directory_marker_text(purpose, name);
  const UniqueFd file(
      ::openat(fd(), kDirectoryMarker, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) fail("make the marker in", path_);
  const ssize_t written = ::write(file.get(), text.data(), text.size());
  if (written < 0) fail("write the marker in", path_);
  if (written != static_cast<ssize_t>(text.size())) {
    errno = ENOSPC;
    fail("write the marker in", path_);
  }
}

std::optional<std::string> OwnedDirectory::marker_text(std::size_t most_bytes) const {
  const UniqueFd file(::openat(fd(), kDirectoryMarker, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) return std::nullopt;
  const struct stat info = status_of(file.get(), path_ / kDirectoryMarker);
  if (!S_ISREG(info.st_mode) || info.st_uid != ::geteuid()) return std::nullopt;
  std::string text(most_bytes, '\0');
  const ssize_t count = ::read(file.get(), text.data(), text.size());
  if (count < 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(count));
  return text;
}

bool OwnedDirectory::is_marked(const std::string& purpose, const std::string& name) const {
  const std::string expected = directory_marker_text(purpose, name);
  return marker_text(expected.size() + 1) == expected;
}

bool OwnedDirectory::is_unfinished(const std::string& purpose, const std::string& name) const {
  const std::vector<std::string> found = entries();
  if (found.empty()) return true;
  const std::string expected = directory_marker_text(purpose, name);
  const std::optional<std::string> text = marker_text(expected.size() + 1);
  return found.size() == 1 && text && expected.starts_with(*text);
}

bool OwnedDirectory::remove(const IsOurs& is_ours) const {
  const dev_t device = status_of(parent_.get(), path_).st_dev;
  if (!Walk(is_ours, device, true).content(fd(), path_)) return false;
  // The name may meanwhile be that of another directory.
  const std::string name = path_.filename().string();
  struct stat named {};
  if (::fstatat(parent_.get(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT;
  if (named.st_ino != status_of(fd(), path_).st_ino || named.st_dev != device) return true;
  return remove_empty(parent_.get(), name, path_);
}

void OwnedDirectory::remove_if_empty() const noexcept {
  ::unlinkat(parent_.get(), path_.filename().c_str(), AT_REMOVEDIR);
}

bool OwnedDirectory::rename(const std::string& name) noexcept try {
  check_component(name, path_);
  struct stat named {}, own {};
  const std::string before = path_.filename().string();
  fs::path renamed = path_.parent_path() / name;
  const bool is_this = ::fstatat(parent_.get(), before.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 && ::fstat(fd(), &own) == 0 &&
                       named.st_ino == own.st_ino && named.st_dev == own.st_dev;
  if (!is_this || ::fstatat(parent_.get(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0) return false;
  if (::renameat(parent_.get(), before.c_str(), parent_.get(), name.c_str()) != 0) return false;
  path_ = std::move(renamed);
  return true;
} catch (const std::exception&) {
  return false;
}

std::string OwnedDirectory::first_foreign(const IsOurs& is_ours) const {
  Walk walk(is_ours, status_of(fd(), path_).st_dev, false);
  walk.content(fd(), path_);
  return walk.first_foreign();
}

}  // namespace ddbench
