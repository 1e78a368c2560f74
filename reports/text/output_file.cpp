#include "reports/text/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <system_error>

#include "core/error.h"
#include "core/files/planted_file.h"
#include "core/text/number.h"

namespace ddbench::reports {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBufferBytes = 1 << 16;

[[noreturn]] void fail(ErrorCode code, const fs::path& file, int error) {
  throw Error(code, fmt::format("cannot write {}: {}", file.string(), std::strerror(error)), error,
              "write " + file.string());
}

/// The descriptor of this process that `file` names, whatever it leads to: a shell may have opened a file at its end (`>>`).
std::optional<int> own_descriptor(const fs::path& file) {
  const fs::path path = file.lexically_normal();
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  if (path.parent_path() != "/dev/fd" && path.parent_path() != "/proc/self/fd") return std::nullopt;
  return number_from<int>(path.filename().native());
}

/// The file that `file` leads to, over any symbolic links of whose author it is known that they are no other user's.
fs::path followed(const fs::path& file) {
  refuse_planted_file(file);  // before it is followed
  std::error_code error;
  const fs::path target = fs::weakly_canonical(file, error);
  return error ? file : target;
}

/// Not by ::umask, which changes it meanwhile for all threads. Private where /proc does not state it.
mode_t wanted_mode() {
  constexpr std::string_view kName = "Umask:\t";
  mode_t mask = 0077;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(kName)) std::from_chars(line.data() + kName.size(), line.data() + line.size(), mask, 8);
  }
  return 0666 & ~mask;
}

}  // namespace

OutputFile::OutputFile(const fs::path& file) {
  if (const auto descriptor = own_descriptor(file)) {
    target_ = file;
    fd_.reset(::fcntl(*descriptor, F_DUPFD_CLOEXEC, 0));  // opened anew, it would be written from its begin on
    if (!fd_) fail(ErrorCode::kBadInput, file, errno);
    return;
  }
  target_ = followed(file);
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (fs::is_directory(status)) {
    throw Error(ErrorCode::kBadInput, fmt::format("{} is a directory: name a file in it", file.string()),
                EISDIR, "write " + file.string());
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    fd_.reset(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd_) fail(ErrorCode::kBadInput, file, errno);
    return;
  }
  const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, error)) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("cannot write {}: there is no folder {}", file.string(), folder.string()), ENOENT,
                "write " + file.string());
  }
  temporary_ = (folder / ".ddbench-XXXXXX").string();
  fd_.reset(::mkostemp(temporary_.data(), O_CLOEXEC));
  if (!fd_) {
    const int native = errno;
    temporary_.clear();
    fail(ErrorCode::kBadInput, file, native);
  }
}

OutputFile::~OutputFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kBufferBytes) flush();
}

void OutputFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(fd_.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(ErrorCode::kRunFailed, target_, errno);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
}

void OutputFile::commit(Durability durability) {
  flush();
  if (temporary_.empty()) return;
  if (::fchmod(fd_.get(), wanted_mode()) != 0 || (durability == Durability::kOnDisk && ::fsync(fd_.get()) != 0))
    fail(ErrorCode::kRunFailed, target_, errno);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(ErrorCode::kRunFailed, target_, errno);
  temporary_.clear();
}

void write_file(const fs::path& file, std::string_view text) {
  OutputFile output(file);
  output.write(text);
  output.commit();
}

}  // namespace ddbench::reports
