#include "harness/launch/control/rank_wording.h"

#include <fmt/format.h>
#include <string.h>
#include <sys/wait.h>

#include <fstream>
#include <iterator>

namespace ddbench::launch {

std::string describe_rank(int rank, int node, std::int64_t pid) {
  return pid > 0 ? fmt::format("rank {} (node {}, pid {})", rank, node, pid)
                 : fmt::format("rank {} (node {})", rank, node);
}

std::string describe_end(int wait_status) {
  if (!WIFSIGNALED(wait_status)) return fmt::format("exited with code {}", WEXITSTATUS(wait_status));
  const int signal = WTERMSIG(wait_status);
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("was killed by signal {}", signal)
                         : fmt::format("was killed by signal {} (SIG{})", signal, name);
}

std::string describe_progress(std::uint32_t steps_completed) {
  return steps_completed == 0 ? "before its first step was done"
                              : fmt::format("after step {}", steps_completed - 1);
}

std::string describe_time(std::chrono::nanoseconds time) {
  return fmt::format("{:.1f} s", std::chrono::duration<double>(time).count());
}

std::string last_words(const std::filesystem::path& log) {
  constexpr std::streamoff kEnough = 400;
  std::ifstream file(log, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const std::streamoff size = file.tellg();
  file.seekg(size > kEnough ? size - kEnough : 0);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (char& c : text) {
    if (c == '\n')
      c = '|';
    else if (static_cast<unsigned char>(c) < ' ')
      c = ' ';
  }
  return size > kEnough ? "..." + text : text;
}

}  // namespace ddbench::launch
