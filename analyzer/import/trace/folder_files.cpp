#include "analyzer/import/trace/folder_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <system_error>

#include "core/error.h"

namespace ddbench::imports {
namespace {

namespace fs = std::filesystem;

}  // namespace

std::vector<fs::path> files_of_folders(const std::vector<fs::path>& files_and_folders,
                                       const std::vector<std::string_view>& endings) {
  const auto fits = [&](const fs::path& file) {
    const std::string name = file.filename().string();
    return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
  };
  std::vector<fs::path> files;
  for (const fs::path& path : files_and_folders) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    const std::size_t before = files.size();
    for (const auto& entry : fs::directory_iterator(path, error)) {
      if (entry.is_regular_file(error) && fits(entry.path())) files.push_back(entry.path());
    }
    if (files.size() == before) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("{}: this folder has no *{}, or cannot be read", path.string(), fmt::join(endings, " or *")), 0,
                  path.string());
    }
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
  }
  return files;
}

}  // namespace ddbench::imports
