#include "harness/cli/analysis/demo_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#include "analyzer/import/imported_run.h"
#include "core/error.h"
#include "core/text/text_hash.h"
#include "core/unique_handle.h"
#include "harness/cli/options/output.h"

namespace ddbench::cli {
namespace {

namespace fs = std::filesystem;

fs::path cache_folder() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return fs::path(cache) / "ddbench";
  const char* const home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return fs::path(home) / ".cache" / "ddbench";
  throw Error(ErrorCode::kEnvironment,
              "there is no cache folder for the example store: set HOME or XDG_CACHE_HOME");
}

std::string demo_content() {
  const fs::path file = own_executable().parent_path().parent_path() / "share/ddbench/demo/demo.db";
  try {
    return imports::read_file(file);
  } catch (const Error& error) {
    throw Error(ErrorCode::kEnvironment,
                fmt::format("the example store is not installed ({}): install ddbench with its data files, or "
                            "build it from source",
                            error.message()));
  }
}

/// 0, or the errno of what failed. `name` ends in XXXXXX and becomes the new file's.
int write_new_file(std::string_view content, std::string& name) {
  UniqueFd file(::mkstemp(name.data()));  // only its owner can read it
  if (file.get() < 0) return errno;
  while (!content.empty()) {
    const ssize_t written = ::write(file.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(file.get()) != 0) return errno;
  return ::close(file.release()) == 0 ? 0 : errno;
}

/// Under a name of its own first: whoever opens the dashboard at the same time never sees half a store. Logs of a
/// store that was there before do not belong to the new one.
void write_store(const std::string& content, const fs::path& file) {
  std::string unfinished = file.string() + ".XXXXXX";
  int code = write_new_file(content, unfinished);
  std::error_code failed;
  if (code == 0) {
    for (const char* log : {"-wal", "-shm"}) fs::remove(file.string() + log, failed);
    fs::rename(unfinished, file, failed);
    if (!failed) return;
    code = failed.value();
  }
  fs::remove(unfinished, failed);
  throw Error(ErrorCode::kEnvironment,
              fmt::format("cannot write the example store {}: {}; set XDG_CACHE_HOME to a folder that can be written",
                          file.string(), std::generic_category().message(code)),
              code);
}

bool holds(const fs::path& file, const std::string& content) {
  std::error_code failed;
  if (!fs::is_regular_file(file, failed) || fs::file_size(file, failed) != content.size()) return false;
  try {
    return imports::read_file(file) == content;
  } catch (const Error&) {
    return false;  // it cannot be read: it is written anew
  }
}

std::string name_of(const std::string& content) {
  return fmt::format("demo-{:016x}.db", hash_text(content));
}

/// An example store that we wrote and nobody has changed: its name is the hash of its content, which is a store of
/// ddbench.
bool is_unchanged_demo(const fs::path& file) {
  constexpr std::string_view kSqlite{"SQLite format 3\0", 16};
  constexpr std::string_view kDdbench = "DDBN";  // store::kApplicationId
  constexpr std::size_t kApplicationIdAt = 68;
  constexpr std::uintmax_t kLargest = 64 << 20;
  constexpr std::size_t kLengthOfName = std::string_view("demo-0123456789abcdef.db").size();
  const std::string name = file.filename().string();
  std::error_code failed;
  if (!name.starts_with("demo-") || name.size() != kLengthOfName) return false;
  if (fs::symlink_status(file, failed).type() != fs::file_type::regular || fs::file_size(file, failed) > kLargest) return false;
  const fs::path log = file.string() + "-wal";
  if (fs::exists(log, failed) && fs::file_size(log, failed) != 0) return false;  // it has changes that are not in the file yet
  try {
    const std::string content = imports::read_file(file);
    return content.size() > kApplicationIdAt && content.starts_with(kSqlite) &&
           content.substr(kApplicationIdAt, kDdbench.size()) == kDdbench &&
           name == name_of(content);
  } catch (const Error&) {
    return false;
  }
}

/// Those of other versions of ddbench. What cannot be removed stays: it is a cache.
void remove_older_demos(const fs::path& newest) {
  std::error_code failed;
  for (fs::directory_iterator each(newest.parent_path(), failed), end; !failed && each != end; each.increment(failed)) {
    const fs::path file = each->path();
    if (file == newest || !is_unchanged_demo(file)) continue;
    std::error_code ignored;
    for (const char* ending : {"", "-wal", "-shm"}) fs::remove(file.string() + ending, ignored);
  }
}

}  // namespace

fs::path demo_store() {
  const std::string content = demo_content();
  const fs::path folder = cache_folder();
  const fs::path file = folder / name_of(content);
  std::error_code failed;
  if (holds(file, content)) return file;
  fs::create_directories(folder, failed);
  write_store(content, file);
  remove_older_demos(file);
  return file;
}

}  // namespace ddbench::cli
