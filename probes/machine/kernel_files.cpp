#include "probes/machine/kernel_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "core/text/number.h"
#include "core/unique_handle.h"

namespace ddbench::host {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n";
constexpr int kMostCores = 1 << 16;

}  // namespace

Measured<std::string> read_text(const std::filesystem::path& file) {
  const auto missing = [&](int errno_value) {
    return Measured<std::string>::missing(fmt::format("{}: {}", file.string(), std::strerror(errno_value)));
  };
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return missing(errno);
  std::string text;
  std::array<char, 4096> piece;
  while (true) {
    const ssize_t got = ::read(fd.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return missing(errno);
    if (got == 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  const std::string_view inner = trimmed(text);
  if (inner.empty()) return Measured<std::string>::missing(fmt::format("{} is empty", file.string()));
  return std::string(inner);
}

Measured<std::int64_t> read_number(const std::filesystem::path& file) {
  const Measured<std::string> text = read_text(file);
  if (!text) return Measured<std::int64_t>::missing(text.reason());
  const std::optional<std::int64_t> number = number_from<std::int64_t>(*text);
  if (number) return *number;
  return Measured<std::int64_t>::missing(fmt::format("{} reads \"{}\"", file.string(), *text));
}

std::vector<std::string> list_names(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string_view trimmed(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(kWhiteSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kWhiteSpace) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find(separator, begin)) != std::string_view::npos; begin = end + 1) {
    parts.push_back(text.substr(begin, end - begin));
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> found;
  std::size_t begin = 0;
  while ((begin = text.find_first_not_of(kWhiteSpace, begin)) != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(kWhiteSpace, begin), text.size());
    found.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return found;
}

std::optional<std::string_view> field(std::string_view text, std::string_view key) {
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && trimmed(line.substr(0, colon)) == key) {
      return trimmed(line.substr(colon + 1));
    }
  }
  return std::nullopt;
}

std::vector<int> parse_core_list(std::string_view text) {
  std::vector<int> cores;
  for (const std::string_view part : split(trimmed(text), ',')) {
    const std::size_t dash = part.find('-');
    const auto first = number_from<int>(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number_from<int>(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last >= kMostCores) continue;
    for (int core = *first; core <= *last; ++core) cores.push_back(core);
  }
  return cores;
}

}  // namespace ddbench::host
