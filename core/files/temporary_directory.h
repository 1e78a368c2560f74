#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/files/owned_directory.h"
#include "core/unique_handle.h"

namespace ddbench {

/// The one directory that holds all temporary data of ddbench: `<base>/ddbench-<uid>`, mode 0700. The base is
/// $DDBENCH_TMPDIR, else $TMPDIR, else the first of /var/tmp and /tmp that is writable and not kept in
/// memory, else the first that is writable: spools grow with the run and must not take the memory that is
/// being measured. Makes nothing. Throws Error{kEnvironment} when no base can be used.
std::filesystem::path temporary_root();

/// A private directory `<root>/<name>` (mode 0700): spools and logs of a run, a store that is being filled by
/// an import. It is removed with this object, and `root` with the last one. An flock held on its marker
/// (OwnedDirectory::mark) shows others that its owner lives; the lock dies with the process.
class TemporaryDirectory {
 public:
  /// Makes the root where it is missing. `name`: letters, digits and ._- only, the first a letter or digit.
  /// Throws Error{kEnvironment} when it cannot be made or exists, and when `root` is anything but a directory
  /// that only this user can enter.
  TemporaryDirectory(const std::filesystem::path& root, const std::string& name);
  /// The directory of a dead owner, to take over its content; nothing when there is none, or when its owner
  /// or a process that adopted it earlier is alive.
  static std::optional<TemporaryDirectory> adopt(const std::filesystem::path& root, const std::string& name);
  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();

  const std::filesystem::path& path() const noexcept { return directory_->path(); }
  /// Now instead of with the object: for a process that ends without unwinding.
  void remove() noexcept;
  /// Leaves the directory where it is, as if its owner had died: somebody can adopt() it.
  void keep() noexcept;

 private:
  TemporaryDirectory(OwnedDirectory root, OwnedDirectory directory, UniqueFd lock)
      : root_(std::move(root)), directory_(std::move(directory)), lock_(std::move(lock)) {}

  std::optional<OwnedDirectory> root_;
  std::optional<OwnedDirectory> directory_;  // empty: moved from, or removed
  UniqueFd lock_;
};

/// Removes what killed processes of this user left in `root`: directories with the marker whose lock no
/// process holds (only those whose names begin with `prefix`, and for which `is_needed`, if given, is false),
/// and remnants of their creation. Returns those removed. Everything else in `root` stays. One that cannot be
/// removed is tried again next time. Throws Error{kEnvironment} when `root` is not a directory that only this
/// user can enter.
std::vector<std::filesystem::path> remove_abandoned(
    const std::filesystem::path& root, const std::string& prefix = "",
    const std::function<bool(const std::filesystem::path&)>& is_needed = {});

}  // namespace ddbench
