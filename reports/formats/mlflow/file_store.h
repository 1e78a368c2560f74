#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace ddbench::reports::mlflow {

/// A directory that is filled out of sight and then put in its place, over an older one. Deleted unless it
/// was placed.
class NewDirectory {
 public:
  /// Inside of `parent`, on the same file system as its later place.
  explicit NewDirectory(const std::filesystem::path& parent);
  ~NewDirectory();
  NewDirectory(const NewDirectory&) = delete;
  NewDirectory& operator=(const NewDirectory&) = delete;

  /// `name` relative to the directory; folders are made.
  void write(const std::filesystem::path& name, std::string_view content);
  /// Throws Error{kBadInput} when `target` exists and has no tag with the id of `run`, or contains something
  /// that ddbench does not export.
  void place(const std::filesystem::path& target, const std::string& run);

 private:
  std::filesystem::path path_;
};

/// The id of the experiment `name` in the file store `root`; made when there is none. Makes `root` as well.
std::string experiment_id(const std::filesystem::path& root, const std::string& name, std::int64_t now_ms);

/// "file:///a%20b/c"
std::string file_uri(const std::filesystem::path& path);

}  // namespace ddbench::reports::mlflow
