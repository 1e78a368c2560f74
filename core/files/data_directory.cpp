#include "core/files/data_directory.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace ddbench {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets variables
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::filesystem::path home() {
  if (const std::string_view home = variable("HOME"); !home.empty()) return home;
  std::vector<char> buffer(16 * 1024);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    return found->pw_dir;
  }
  throw Error(ErrorCode::kEnvironment,
              "there is no place for the results: this user has no home directory; name a store with --db or "
              "DDBENCH_DB",
              0, "HOME");
}

}  // namespace

std::filesystem::path data_directory() {
  // Relative paths are to be ignored (XDG Base Directory Specification).
  const std::filesystem::path data_home = variable("XDG_DATA_HOME");
  const std::filesystem::path base = data_home.is_absolute() ? data_home : home() / ".local" / "share";
  return base / "ddbench";
}

}  // namespace ddbench
