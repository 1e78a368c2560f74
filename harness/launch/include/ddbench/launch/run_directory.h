#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ddbench/record/unique_handle.h"

namespace ddbench::launch {

/// Where run directories are made: $DDBENCH_TMPDIR, else $TMPDIR, else the first of /var/tmp and /tmp that is
/// writable and not kept in memory, else the first that is writable. Spools grow with the run and must not
/// take the memory that is being measured. Throws Error{kEnvironment} when none can be used.
std::filesystem::path run_directory_root();

/// The private directory (mode 0700) of one run, `<root>/ddbench-<run id>`: spools and logs of the ranks. It
/// is removed with this object. An flock held on its file `owner` tells others that the run lives; the lock
/// dies with the process.
class RunDirectory {
 public:
  /// Throws Error{kEnvironment} when it cannot be made.
  RunDirectory(const std::filesystem::path& root, const std::string& run_id);
  /// The directory of a run whose owner died, to take over what is in it; nothing when there is none, or when
  /// its owner or somebody who adopted it before lives.
  static std::optional<RunDirectory> adopt(const std::filesystem::path& root, const std::string& run_id);
  RunDirectory(RunDirectory&& other) noexcept;
  RunDirectory& operator=(RunDirectory&&) = delete;
  RunDirectory(const RunDirectory&) = delete;
  ~RunDirectory();

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  RunDirectory(std::filesystem::path path, UniqueFd owner)
      : path_(std::move(path)), owner_(std::move(owner)) {}

  std::filesystem::path path_;
  UniqueFd owner_;
};

/// Removes the directories under `root` that killed runs of this user left behind (nobody holds their lock);
/// returns them. Never touches what other users own, symbolic links, or the directory of a living run. Throws
/// nothing for a directory that cannot be removed: it is tried again next time.
std::vector<std::filesystem::path> remove_abandoned(const std::filesystem::path& root);

}  // namespace ddbench::launch
