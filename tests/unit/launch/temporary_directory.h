#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "ddbench/record/error.h"

namespace ddbench::launch {

/// An empty directory that goes away with this object.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "launch_test.XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw Error(ErrorCode::kEnvironment, "no temporary directory");
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace ddbench::launch
