#include "core/files/temporary_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <random>
#include <string_view>

#include "core/error.h"

namespace ddbench {
namespace {

namespace fs = std::filesystem;

using IsNeeded = std::function<bool(const fs::path&)>;

constexpr const char* kPurpose = "temporary";
constexpr std::string_view kInCreation = ".new-";
constexpr int kMostAttempts = 100;
constexpr std::size_t kLongestName = 100;

bool in_memory(const fs::path& path) {
  struct statfs info {};
  return ::statfs(path.c_str(), &info) == 0 && (info.f_type == TMPFS_MAGIC || info.f_type == RAMFS_MAGIC);
}

bool usable(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) && ::access(path.c_str(), W_OK | X_OK) == 0;
}

std::optional<fs::path> from_environment(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value == '\0') return std::nullopt;
  if (!usable(value)) {
    throw Error(ErrorCode::kEnvironment,
                fmt::format("${} is {}, which is not a writable directory", variable, value), 0, variable);
  }
  return fs::absolute(value);
}

fs::path base_directory() {
  for (const char* variable : {"DDBENCH_TMPDIR", "TMPDIR"}) {
    if (auto path = from_environment(variable)) return *path;
  }
  std::optional<fs::path> second_best;
  for (const char* candidate : {"/var/tmp", "/tmp"}) {
    if (!usable(candidate)) continue;
    if (!in_memory(candidate)) return candidate;
    if (!second_best) second_best = candidate;
  }
  if (second_best) return *second_best;
  throw Error(
      ErrorCode::kEnvironment,
      "neither /var/tmp nor /tmp can be written: set $DDBENCH_TMPDIR to a directory for temporary files");
}

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && is_alphanumeric(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return is_alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

void check_private(const OwnedDirectory& root) {
  if ((root.mode() & 0777U) == 0700U) return;
  throw Error(
      ErrorCode::kEnvironment,
      fmt::format("{} is not a private directory (its mode is {:04o}, not 0700), so ddbench does not "
                  "use it for temporary files: remove it, or set $DDBENCH_TMPDIR to another directory",
                  root.path().string(), root.mode()),
      0, root.path().string());
}

/// What stands in the way is named with the way out.
template <typename Open>
auto open_root(Open&& open) {
  try {
    auto root = open();
    return root;
  } catch (const Error& error) {
    throw Error(error.code(),
                fmt::format("cannot use the directory for temporary files: {}. Remove it, or set "
                            "$DDBENCH_TMPDIR to another directory",
                            error.message()),
                error.native_code(), error.where());
  }
}

/// The lock on a directory's marker; empty when there is no marker, or somebody holds it.
UniqueFd lock_marker(const OwnedDirectory& directory) {
  UniqueFd marker(::openat(directory.fd(), kDirectoryMarker, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  const bool locked = marker && ::flock(marker.get(), LOCK_EX | LOCK_NB) == 0 &&
                      ::fstat(marker.get(), &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink == 1;
  if (!locked) marker.reset();
  return marker;
}

struct Created {
  OwnedDirectory root;
  OwnedDirectory directory;
  UniqueFd lock;
};

/// Returns nothing, or an error of ENOENT, when another process that cleans up here was faster: it treats
/// anything not yet locked as abandoned, and removes an empty root.
std::optional<Created> try_to_create(const fs::path& root_path, const std::string& name) {
  OwnedDirectory root = open_root([&] { return OwnedDirectory::make(root_path); });
  check_private(root);
  const std::string in_creation = fmt::format("{}{:08x}", kInCreation, std::random_device{}());
  if (::mkdirat(root.fd(), in_creation.c_str(), 0700) != 0) {
    if (errno == ENOENT || errno == EEXIST) return std::nullopt;
    throw_errno(errno, fmt::format("cannot make a directory in {}", root_path.string()),
                ErrorCode::kEnvironment);
  }
  const auto made = root.open_child(in_creation);
  if (!made) return std::nullopt;
  try {
    made->mark(kPurpose, name);
  } catch (const Error&) {
    made->remove();
    throw;
  }
  UniqueFd lock = lock_marker(*made);
  if (!lock) return std::nullopt;
  // A directory with a marker is never empty, so that none is replaced.
  if (::renameat(root.fd(), in_creation.c_str(), root.fd(), name.c_str()) != 0) {
    const int error = errno;
    made->remove();
    throw_errno(error, fmt::format("cannot make the directory {}", (root_path / name).string()),
                ErrorCode::kEnvironment);
  }
  std::optional<OwnedDirectory> directory = root.open_child(name);
  if (!directory) return std::nullopt;
  return Created{std::move(root), std::move(*directory), std::move(lock)};
}

/// Whether the marker's text is a prefix of the text that mark() writes: its writer was killed.
bool is_unfinished(const UniqueFd& marker) {
  std::string text(kLongestName + 64, '\0');
  const ssize_t count = ::pread(marker.get(), text.data(), text.size(), 0);
  if (count < 0) return false;
  text.resize(static_cast<std::size_t>(count));
  const std::string begin = directory_marker_text(kPurpose, "");  // ends with a line end
  return text.starts_with(std::string_view(begin).substr(0, begin.size() - 1)) || begin.starts_with(text);
}

/// True when it was removed.
bool remove_if_abandoned(const OwnedDirectory& root, const std::string& name, const IsNeeded& is_needed) {
  const bool in_creation = name.starts_with(kInCreation);
  if (!in_creation && !is_name(name)) return false;
  const auto directory = root.open_child(name);
  if (!directory) return false;
  const UniqueFd lock = lock_marker(*directory);
  if (!lock) {
    // Without its marker, a directory of ours is empty: it was being made or removed.
    directory->remove_if_empty();
    return !root.open_child(name);
  }
  const bool is_ours = in_creation ? is_unfinished(lock) : directory->is_marked(kPurpose, name);
  if (is_ours && !in_creation && is_needed && is_needed(directory->path())) return false;
  return is_ours && directory->remove();
}

}  // namespace

fs::path temporary_root() {
  return base_directory() / fmt::format("ddbench-{}", ::geteuid());
}

TemporaryDirectory::TemporaryDirectory(const fs::path& root, const std::string& name) {
  if (!is_name(name))
    throw Error(ErrorCode::kEnvironment, fmt::format("\"{}\" cannot be the name of a directory", name), 0,
                name);
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    try {
      if (auto created = try_to_create(root, name)) {
        root_ = std::move(created->root);
        directory_ = std::move(created->directory);
        lock_ = std::move(created->lock);
        return;
      }
    } catch (const Error& error) {
      if (error.native_code() != ENOENT || attempt == kMostAttempts - 1) throw;
    }
  }
  throw Error(ErrorCode::kEnvironment,
              fmt::format("cannot make the directory {}: other processes remove it", (root / name).string()),
              0, root.string());
}

std::optional<TemporaryDirectory> TemporaryDirectory::adopt(const fs::path& root_path,
                                                            const std::string& name) {
  if (!is_name(name)) return std::nullopt;
  auto root = open_root([&] { return OwnedDirectory::open(root_path); });
  if (!root) return std::nullopt;
  check_private(*root);
  auto directory = root->open_child(name);
  if (!directory) return std::nullopt;
  UniqueFd lock = lock_marker(*directory);
  if (!lock || !directory->is_marked(kPurpose, name)) return std::nullopt;
  return TemporaryDirectory(std::move(*root), std::move(*directory), std::move(lock));
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept
    : root_(std::move(other.root_)),
      directory_(std::exchange(other.directory_, std::nullopt)),
      lock_(std::move(other.lock_)) {}

TemporaryDirectory::~TemporaryDirectory() {
  remove();
}

void TemporaryDirectory::remove() noexcept {
  if (!directory_) return;
  try {
    directory_->remove();
  } catch (const std::exception&) {
    // The next remove_abandoned() tries again.
  }
  directory_.reset();
  root_->remove_if_empty();
}

void TemporaryDirectory::keep() noexcept {
  directory_.reset();
  lock_.reset();
}

std::vector<fs::path> remove_abandoned(const fs::path& root_path, const std::string& prefix,
                                       const IsNeeded& is_needed) {
  std::vector<fs::path> removed;
  const auto root = open_root([&] { return OwnedDirectory::open(root_path); });
  if (!root) return removed;
  check_private(*root);
  for (const std::string& name : root->entries()) {
    if (!name.starts_with(prefix) && !name.starts_with(kInCreation)) continue;
    try {
      if (remove_if_abandoned(*root, name, is_needed)) removed.push_back(root_path / name);
    } catch (const Error&) {
      // A file, a link, another user's, or a disk that fails: it stays.
    }
  }
  root->remove_if_empty();
  return removed;
}

}  // namespace ddbench
