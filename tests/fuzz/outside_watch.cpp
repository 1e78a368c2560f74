#include "outside_watch.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace ddbench::fuzz {
namespace {

namespace fs = std::filesystem;

std::string describe(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return "not readable";
  std::string text = fmt::format("mode {:o}", status.st_mode);
  if (S_ISDIR(status.st_mode)) return text;  // own entries in it come and go
  text += fmt::format(", changed at {}.{:09}", status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
  if (S_ISLNK(status.st_mode)) return text + ", to " + fs::read_symlink(path).string();
  if (!S_ISREG(status.st_mode)) return text;
  std::ifstream file(path, std::ios::binary);
  return text + ": " + std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

OutsideWatch::OutsideWatch(fs::path root, IsOwn is_own) : root_(std::move(root)), is_own_(std::move(is_own)), before_(entries()) {}

OutsideWatch::Entries OutsideWatch::entries() const {
  Entries found;
  for (auto entry = fs::recursive_directory_iterator(root_); entry != fs::recursive_directory_iterator(); ++entry) {
    const std::string name = entry->path().lexically_relative(root_).string();
    if (!is_own_(name)) {
      found.emplace(name, describe(entry->path()));
    } else if (entry->is_directory() && !entry->is_symlink()) {
      entry.disable_recursion_pending();
    }
  }
  return found;
}

void OutsideWatch::expect_untouched() const {
  const Entries now = entries();
  if (now == before_) return;
  for (const auto& [name, state] : before_) {
    const auto found = now.find(name);
    if (found == now.end()) fmt::print(stderr, "outside: {} was removed\n", name);
    else if (found->second != state) fmt::print(stderr, "outside: {} was changed\n  from {}\n  to {}\n", name, state, found->second);
  }
  for (const auto& [name, state] : now) {
    if (!before_.contains(name)) fmt::print(stderr, "outside: {} was created\n", name);
  }
  std::abort();
}

}  // namespace ddbench::fuzz
