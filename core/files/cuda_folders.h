#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "core/text/number.h"

/// Modules that need CUDA lie in a folder for its major version, "cuda13" beside the others, so that builds for
/// several versions can be installed in one prefix. In a build folder they lie among the others.
namespace ddbench {

inline constexpr std::string_view kCudaFolder = "cuda";

/// The major version of CUDA that the driver knows; 0 where there is none.
inline int cuda_of_driver() noexcept {
  void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) return 0;
  int version = 0;
  if (auto* const ask = reinterpret_cast<int (*)(int*)>(::dlsym(driver, "cuDriverGetVersion"))) ask(&version);
  ::dlclose(driver);
  return version / 1000;
}

/// The folders for versions of CUDA in `folder`, and last the folder itself. First the one for `preferred`, then
/// those that a driver that knows `driver` can run (all if 0), the newest first, then the others.
inline std::vector<std::filesystem::path> cuda_folders(const std::filesystem::path& folder, int driver, int preferred = 0) {
  struct Version {
    int major;
    std::filesystem::path folder;
  };
  std::vector<Version> versions;
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator(folder, unreadable)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kCudaFolder)) continue;
    if (const auto major = number_from<int>(std::string_view(name).substr(kCudaFolder.size()))) versions.push_back({*major, entry.path()});
  }
  const auto rank = [&](const Version& version) {
    if (version.major == preferred) return 0;
    return driver == 0 || version.major <= driver ? 1 : 2;
  };
  std::sort(versions.begin(), versions.end(), [&](const Version& a, const Version& b) {
    return rank(a) != rank(b) ? rank(a) < rank(b) : a.major > b.major;
  });
  std::vector<std::filesystem::path> folders;
  for (const Version& version : versions) folders.push_back(version.folder);
  folders.push_back(folder);
  return folders;
}

}  // namespace ddbench
