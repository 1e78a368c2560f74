#include "harness/plugin/module.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>

#include "core/files/cuda_folders.h"
#include "core/error.h"

namespace ddbench::module {
namespace {

namespace fs = std::filesystem;

std::string listed(const std::vector<fs::path>& directories) {
  std::string text;
  for (const fs::path& directory : directories) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", directory.string());
  }
  return text;
}

[[noreturn]] void throw_not_loadable(const ModuleRequest& request, const fs::path& file,
                                     const std::string& why) {
  throw Error(ErrorCode::kEnvironment,
              fmt::format("{} cannot be used: {} does not load ({}). If a library is missing, install {}.",
                          request.purpose, file.string(), why, request.runtime_package),
              0, "open " + file.string());
}

const ModuleEntry& entry_of(const ModuleRequest& request, const fs::path& file) {
  // RTLD_NODELETE: objects that the module made may outlive every owner we could name, up to static
  // destructors.
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* const why = dlerror();
    throw_not_loadable(request, file, why != nullptr ? why : "no reason given");
  }
  void* const symbol = dlsym(handle, kEntrySymbol);
  if (symbol == nullptr) {
    throw_not_loadable(request, file, fmt::format("it has no {}, so it is no ddbench module", kEntrySymbol));
  }
  return *reinterpret_cast<ModuleEntryFunction>(symbol)();
}

void* factory_of(const ModuleRequest& request, const fs::path& file) {
  const ModuleEntry& entry = entry_of(request, file);
  if (entry.layout == kEntryLayout && request.interface == entry.interface) return entry.factory;
  throw Error(ErrorCode::kEnvironment,
              fmt::format("{} cannot be used: {} comes from another version of ddbench. Build or install ddbench again so "
                          "that the executable and its modules match.",
                          request.purpose, file.string()),
              0, "open " + file.string());
}

std::vector<fs::path> files_of(const ModuleRequest& request, const fs::path& directory) {
  std::vector<fs::path> files;
  for (const fs::path& folder : request.needs_cuda ? cuda_folders(directory, cuda_of_driver()) : std::vector{directory}) {
    std::error_code unreadable;
    if (fs::exists(folder / request.file, unreadable)) files.push_back(folder / request.file);
  }
  return files;
}

}  // namespace

std::vector<fs::path> module_directories() {
  std::vector<fs::path> directories;
  if (const char* const chosen = std::getenv("DDBENCH_MODULE_DIR"); chosen != nullptr && *chosen != '\0') {
    directories.emplace_back(chosen);
  }
  std::error_code unreadable;
  const fs::path executable = fs::read_symlink("/proc/self/exe", unreadable);
  if (!unreadable) {
    const fs::path prefix = executable.parent_path().parent_path();
    directories.push_back(prefix / "lib" / "ddbench");
    if (std::string_view(DDBENCH_INSTALL_LIBDIR) != "lib") {
      directories.push_back(prefix / DDBENCH_INSTALL_LIBDIR / "ddbench");
    }
  }
  directories.push_back(fs::path(DDBENCH_INSTALL_FULL_LIBDIR) / "ddbench");
  return directories;
}

void* open_factory(const ModuleRequest& request, const std::vector<fs::path>& directories) {
  for (const fs::path& directory : directories) {
    std::optional<Error> first;
    for (const fs::path& file : files_of(request, directory)) {
      try {
        return factory_of(request, file);
      } catch (const Error& error) {  // the libraries of another version of CUDA may be there
        if (!first) first = error;
      }
    }
    if (first) throw Error(*first);
  }
  throw Error(
      ErrorCode::kEnvironment,
      fmt::format(
          "{} is not in this build of ddbench: no {} in {}. Install {} and build again, or name the folder "
          "of the modules in DDBENCH_MODULE_DIR.",
          request.purpose, request.file, listed(directories), request.build_package),
      0, "open " + request.file);
}

}  // namespace ddbench::module
