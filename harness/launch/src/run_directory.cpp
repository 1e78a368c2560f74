#include "ddbench/launch/run_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <system_error>

#include "ddbench/record/error.h"

namespace ddbench::launch {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "ddbench-";
constexpr std::string_view kPrefixInCreation = ".ddbench-";
constexpr std::time_t kCreationTakesLess_s = 60;

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
                fmt::format("${} is {}, which is no directory that can be written to", variable, value), 0,
                variable);
  }
  return fs::absolute(value);
}

UniqueFd lock_owner_file(const fs::path& directory, int flags) {
  UniqueFd file(::open((directory / "owner").c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file && ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) file.reset();
  return file;
}

/// The caller's own directory, not a link to one.
std::optional<struct stat> own_directory(const fs::path& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != ::geteuid())
    return std::nullopt;
  return info;
}

bool abandoned(const fs::path& path) {
  const auto info = own_directory(path);
  if (!info) return false;
  const std::string name = path.filename().string();
  // A directory gets its final name only when its lock is held.
  if (name.starts_with(kPrefix))
    return static_cast<bool>(lock_owner_file(path, O_RDWR)) || !fs::exists(path / "owner");
  return name.starts_with(kPrefixInCreation) && std::time(nullptr) - info->st_mtime > kCreationTakesLess_s;
}

}  // namespace

std::filesystem::path run_directory_root() {
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
      "neither /var/tmp nor /tmp can be written to: set $DDBENCH_TMPDIR to a directory for temporary files");
}

RunDirectory::RunDirectory(const fs::path& root, const std::string& run_id)
    : path_(root / (std::string(kPrefix) + run_id)) {
  const auto fail = [&](int error) {
    throw_errno(error, fmt::format("cannot make the run's directory {}", path_.string()),
                ErrorCode::kEnvironment);
  };
  std::string in_creation = (root / (std::string(kPrefixInCreation) + run_id + ".XXXXXX")).string();
  if (::mkdtemp(in_creation.data()) == nullptr) fail(errno);
  owner_ = lock_owner_file(in_creation, O_RDWR | O_CREAT | O_EXCL);
  if (!owner_ || ::rename(in_creation.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    std::error_code ignored;
    fs::remove_all(in_creation, ignored);
    fail(error);
  }
}

std::optional<RunDirectory> RunDirectory::adopt(const fs::path& root, const std::string& run_id) {
  const fs::path path = root / (std::string(kPrefix) + run_id);
  if (!own_directory(path)) return std::nullopt;
  UniqueFd owner = lock_owner_file(path, O_RDWR);
  if (!owner) return std::nullopt;
  return RunDirectory(path, std::move(owner));
}

RunDirectory::RunDirectory(RunDirectory&& other) noexcept
    : path_(std::move(other.path_)), owner_(std::move(other.owner_)) {
  other.path_.clear();
}

RunDirectory::~RunDirectory() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

std::vector<std::filesystem::path> remove_abandoned(const fs::path& root) {
  std::vector<fs::path> removed;
  std::error_code error;
  for (fs::directory_iterator entry(root, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path path = entry->path();
    if (!abandoned(path)) continue;
    std::error_code failure;
    fs::remove_all(path, failure);
    if (!failure) removed.push_back(path);
  }
  return removed;
}

}  // namespace ddbench::launch
