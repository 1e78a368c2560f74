#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/unique_handle.h"

namespace ddbench {

/// Decides by the path below a directory whether ddbench wrote an entry: "step-00000010/state-0.safetensors"
/// for a file, "step-00000010/" for a directory.
using IsOurs = std::function<bool(const std::string& relative_path)>;

/// A directory of this user, held by descriptor: it stays the same directory whatever its name comes to mean.
/// The only way in which ddbench removes directories. Nothing here follows a symbolic link, leaves the
/// directory, or enters another file system that is mounted in it. Errors are Error{kEnvironment} and name
/// the path.
class OwnedDirectory {
 public:
  /// Nothing when there is no such entry. Throws when it is a symbolic link, no directory, or another user's.
  /// The directory that it lies in may be anybody's.
  static std::optional<OwnedDirectory> open(const std::filesystem::path& path);
  std::optional<OwnedDirectory> open_child(const std::string& name) const;
  /// As open() of `parent`/`name`, but `parent`, which may be anybody's, must be no symbolic link either.
  static std::optional<OwnedDirectory> open_in(const std::filesystem::path& parent, const std::string& name);
  /// Makes the directory (mode 0700) where it is missing; its parent must exist. Throws as open().
  static OwnedDirectory make(const std::filesystem::path& path);
  /// As make(), and marks the directory if it was missing: one that was there before stays as it is. Removes it again where
  /// that fails.
  static OwnedDirectory make_marked(const std::filesystem::path& path, const std::string& purpose);

  const std::filesystem::path& path() const noexcept { return path_; }
  int fd() const noexcept { return fd_.get(); }
  /// Permission bits.
  unsigned mode() const;
  std::vector<std::string> entries() const;

  /// Writes the file `.ddbench` (mode 0600), which states that ddbench made this directory, its purpose and
  /// its name. Call it right after creating the directory.
  void mark(const std::string& purpose, const std::string& name) const;
  /// Whether mark() was called with the same words.
  bool is_marked(const std::string& purpose, const std::string& name) const;

  /// Whether it holds nothing, or nothing but the beginning of such a marker: make_marked() or remove() of a killed process left it.
  bool is_unfinished(const std::string& purpose, const std::string& name) const;

  /// Removes the directory with all content that `is_ours` accepts (all of it if none is given). Other
  /// content is kept, and so are the directories that lead to it. Returns true when the directory is gone.
  bool remove(const IsOurs& is_ours = {}) const;
  void remove_if_empty() const noexcept;
  /// Gives it another name in its parent directory. False, and nothing is changed, when that cannot be: something has the name, or
  /// this user may not. Another directory that has taken this one's name meanwhile stays.
  bool rename(const std::string& name) noexcept;
  /// The relative path of an entry that `is_ours` does not accept; empty when there is none.
  std::string first_foreign(const IsOurs& is_ours) const;

 private:
  OwnedDirectory(std::filesystem::path path, UniqueFd parent, UniqueFd fd)
      : path_(std::move(path)), parent_(std::move(parent)), fd_(std::move(fd)) {}
  std::optional<std::string> marker_text(std::size_t most_bytes) const;  ///< nothing: there is none of this user's
  static std::optional<OwnedDirectory> open_at(UniqueFd parent, std::filesystem::path path);

  std::filesystem::path path_;
  UniqueFd parent_;
  UniqueFd fd_;
};

/// The name of the file that mark() writes.
inline constexpr const char* kDirectoryMarker = ".ddbench";

/// What mark() writes into it.
std::string directory_marker_text(const std::string& purpose, const std::string& name);

}  // namespace ddbench
