#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

namespace ddbench::fuzz {

/// Notices what happens to files and folders that are not ddbench's own to change.
class OutsideWatch {
 public:
  using IsOwn = std::function<bool(const std::string& relative_path)>;

  /// Remembers all below `root` but what `is_own` accepts, with its type, mode and, of a file, time of change and content.
  OutsideWatch(std::filesystem::path root, IsOwn is_own);

  /// Prints and aborts where something was created, changed or removed since.
  void expect_untouched() const;

 private:
  using Entries = std::map<std::string, std::string>;  ///< by relative path
  Entries entries() const;

  std::filesystem::path root_;
  IsOwn is_own_;
  Entries before_;
};

}  // namespace ddbench::fuzz
