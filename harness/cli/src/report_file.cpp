#include "report_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "ddbench/record/error.h"

namespace ddbench::cli {
namespace {

namespace fs = std::filesystem;

fs::path directory_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

}  // namespace

void check_writable(const fs::path& file) {
  std::error_code ignored;
  const fs::path directory = directory_of(file);
  const bool special = fs::exists(file, ignored) && !fs::is_regular_file(file, ignored);
  if (!file.empty() && !fs::is_directory(file, ignored) &&
      ::access((special ? file : directory).c_str(), W_OK) == 0) {
    return;
  }
  throw Error(ErrorCode::kBadInput,
              fmt::format("cannot write {}: its directory must exist and be writable", file.string()), 0,
              file.string());
}

void write_report(const fs::path& file, std::string_view text) {
  std::error_code error;
  const bool special = fs::exists(file, error) && !fs::is_regular_file(file, error);  // /dev/stdout, a pipe
  const fs::path target = special ? file : fs::path(fmt::format("{}.{}.part", file.string(), ::getpid()));
  std::ofstream output(target, std::ios::binary | std::ios::trunc);
  output.write(text.data(), static_cast<std::streamsize>(text.size()));
  output.close();
  const int failure = errno;
  if (!output) {
    if (!special) fs::remove(target, error);
    throw_errno(failure, fmt::format("cannot write {}", file.string()));
  }
  if (special) return;
  fs::rename(target, file, error);
  if (!error) return;
  const int renaming = error.value();
  fs::remove(target, error);
  throw_errno(renaming, fmt::format("cannot write {}", file.string()));
}

}  // namespace ddbench::cli
