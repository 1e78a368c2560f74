#include "harness/cli/options/output.h"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "analyzer/store/rows/run_store.h"
#include "core/error.h"
#include "core/text/number.h"
#include "reports/text/safe_text.h"

namespace ddbench::cli {
namespace {

/// A disk that fails gives EIO as well, but is no character device.
bool is_closed_terminal(int error) {
  struct stat info {};
  return error == EIO && ::fstat(STDOUT_FILENO, &info) == 0 && S_ISCHR(info.st_mode);
}

void check_written(bool written) {
  if (written) return;
  const int error = errno;
  if (error != EPIPE && !is_closed_terminal(error)) throw_errno(error, "cannot write the output");
}

}  // namespace

void print(std::string_view text) {
  check_written(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
}

void flush_output() {
  check_written(std::fflush(stdout) == 0);
}

void print_json(const nlohmann::ordered_json& json) {
  print(json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

void print_error(std::string_view text) noexcept {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  static_cast<void>(std::fflush(stderr));
}

reports::TextStyle stdout_style() {
  reports::TextStyle style;
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  style.color = ::isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == '\0') &&
                terminal != nullptr && std::string_view(terminal) != "dumb";
  winsize size{};
  const char* columns = std::getenv("COLUMNS");
  if (const auto wanted = columns == nullptr ? std::nullopt : number_from<int>(columns); wanted && *wanted >= 40) {
    style.width = std::min(*wanted, 10'000);
  } else if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) {
    style.width = size.ws_col;
  } else {
    style.keeps_columns = ::isatty(STDOUT_FILENO) == 0;
  }
  return style;
}

std::string printable(std::string_view text) {
  std::string result;
  for (;;) {
    const std::size_t end = text.find('\n');
    result += reports::visible(text.substr(0, end));
    if (end == std::string_view::npos) return result;
    result += '\n';
    text.remove_prefix(end + 1);
  }
}

std::filesystem::path store_path(const std::string& db_option) {
  return db_option.empty() ? store::default_path() : std::filesystem::path(db_option);
}

std::filesystem::path own_executable() {
  return std::filesystem::read_symlink("/proc/self/exe");
}

}  // namespace ddbench::cli
