#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "core/unique_handle.h"
#include "probes/machine/kernel_files.h"
#include "probes/machine/machine.h"

namespace ddbench::host {

Measured<std::string> find_library(const std::string& soname) {
  // Libraries stay loaded: vendors rarely test unloading.
  const UniqueHandle<void, dlclose> library(::dlopen(soname.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE));
  if (!library) {
    const char* reason = ::dlerror();
    return Measured<std::string>::missing(reason != nullptr ? reason : soname + " cannot be loaded");
  }
  const link_map* map = nullptr;
  if (::dlinfo(library.get(), RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return soname;
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(map->l_name, error);
  // A wheel of ddbench brings libraries for its modules: others do not find them there.
  if (!error && file.parent_path().filename() == "module_libs")
    return Measured<std::string>::missing(soname + ": only the copy that ddbench's wheel brings is here");
  return error ? std::string(map->l_name) : file.string();
}

Measured<std::string> find_command(const std::string& name, std::string_view path) {
  for (const std::string_view directory : split(path, ':')) {
    if (directory.empty()) continue;
    const std::filesystem::path file = std::filesystem::path(directory) / name;
    struct stat status {};
    if (::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(file.c_str(), X_OK) == 0) {
      return file.string();
    }
  }
  return Measured<std::string>::missing(name + " is not on PATH");
}

}  // namespace ddbench::host
