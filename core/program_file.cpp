#include "core/program_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/text/text_hash.h"

namespace ddbench {
namespace {

constexpr std::string_view kFileBegin = "file: ";
constexpr std::string_view kFolderBegin = "folder: ";
constexpr std::size_t kDigits = 16;
constexpr off_t kReadWhole = off_t{64} << 20;

class ReadFile {
 public:
  explicit ReadFile(const std::string& path) noexcept : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~ReadFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  ReadFile(const ReadFile&) = delete;
  ReadFile& operator=(const ReadFile&) = delete;

  std::optional<off_t> size() const noexcept {
    struct stat found {};
    if (fd_ < 0 || ::fstat(fd_, &found) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
    return found.st_size;
  }

  /// Continues the hash with the bytes from `begin` to `end`; false if they cannot be read.
  bool hash_range(off_t begin, off_t end, std::uint64_t& hash) const noexcept {
    std::array<char, 16384> buffer;
    while (begin < end) {
      const auto wanted = std::min<off_t>(end - begin, static_cast<off_t>(buffer.size()));
      const ssize_t got = ::pread(fd_, buffer.data(), static_cast<std::size_t>(wanted), begin);
      if (got <= 0) return false;
      hash = hash_text({buffer.data(), static_cast<std::size_t>(got)}, hash);
      begin += got;
    }
    return true;
  }

 private:
  int fd_;
};

bool is_digit(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

}  // namespace

std::optional<ProgramFile> read_program_file(std::string_view name, const std::string& path) noexcept try {
  const ReadFile file(path);
  const std::optional<off_t> size = file.size();
  if (!size || name.empty()) return std::nullopt;
  std::uint64_t hash = kHashBegin;
  if (*size <= kReadWhole) {
    if (!file.hash_range(0, *size, hash)) return std::nullopt;
  } else {
    hash = hash_text(std::to_string(*size));
    if (!file.hash_range(0, kReadWhole / 2, hash) || !file.hash_range(*size - kReadWhole / 2, *size, hash))
      return std::nullopt;
  }
  std::array<char, kDigits + 1> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash));
  ProgramFile found{std::string(name), digits.data()};
  std::replace_if(
      found.name.begin(), found.name.end(),
      [](char c) { return c == ',' || (c >= 0 && c < ' ') || c == 0x7f; }, '_');
  return found;
} catch (...) {
  return std::nullopt;  // no memory
}

std::string program_file_name(const ProgramFile& file) {
  return std::string(kFileBegin) + file.hash + " " + file.name;
}

std::optional<ProgramFile> parse_program_file(std::string_view name) {
  if (!name.starts_with(kFileBegin)) return std::nullopt;
  name.remove_prefix(kFileBegin.size());
  if (name.size() < kDigits + 2 || name[kDigits] != ' ' || name.find(',') != std::string_view::npos) return std::nullopt;
  const std::string_view hash = name.substr(0, kDigits);
  if (!std::all_of(hash.begin(), hash.end(), is_digit)) return std::nullopt;
  return ProgramFile{std::string(name.substr(kDigits + 1)), std::string(hash)};
}

std::string program_folder_name(std::string_view folder) {
  return std::string(kFolderBegin) + std::string(folder);
}

std::optional<std::string> parse_program_folder(std::string_view name) {
  if (!name.starts_with(kFolderBegin) || name.size() == kFolderBegin.size()) return std::nullopt;
  return std::string(name.substr(kFolderBegin.size()));
}

}  // namespace ddbench
