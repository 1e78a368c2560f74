#include "harness/cli/store/fetch_by_ssh.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/text/shell_words.h"
#include "core/unique_handle.h"
#include "harness/cli/options/output.h"
#include "harness/launch/start/start_command.h"

namespace ddbench::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr int kNoCommand = 127;  // of a shell

/// Neither a question on the terminal nor a way back from the other machine; a connection that is dead ends
/// within a minute.
const std::vector<std::string> kSshOptions{"-T",
                                           "-oBatchMode=yes",
                                           "-oConnectTimeout=15",
                                           "-oServerAliveInterval=15",
                                           "-oServerAliveCountMax=4",
                                           "-oForwardAgent=no",
                                           "-oForwardX11=no",
                                           "-oClearAllForwardings=yes",
                                           "-oPermitLocalCommand=no"};

std::string remote_command(const HostSource& source, const SshOptions& options) {
  std::vector<std::string> words{"db", "export", "-", "--finished", "--known", "-"};
  // Words are quoted, so that no shell there expands "~"; ssh starts commands in that user's home.
  const std::string store = source.store.substr(source.store.starts_with("~/") ? 2 : 0);
  if (!store.empty()) words.insert(words.end(), {"--db", store});
  return options.remote_ddbench + " " + shell_words(words);
}

std::vector<std::string> local_command(const HostSource& source, const SshOptions& options) {
  std::vector<std::string> words{"sh", "-c", "exec " + options.ssh + " \"$@\"", "ssh"};
  words.insert(words.end(), kSshOptions.begin(), kSshOptions.end());
  words.insert(words.end(), {"--", source.host, remote_command(source, options)});
  return words;
}

UniqueFd opened(const fs::path& file, int flags) {
  UniqueFd fd(::open(file.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) throw_errno(errno, fmt::format("cannot open {}", file.string()), ErrorCode::kRunFailed);
  return fd;
}

/// In the child: nothing of it outlives this process, and no file grows beyond the limit.
void prepare(int input, int output, int messages, std::uint64_t most_bytes) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(messages, STDERR_FILENO);
  const rlimit limit{most_bytes, most_bytes};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  ::signal(SIGXFSZ, SIG_DFL);
}

/// The wait status; nothing when the time is over, and the process group was killed.
std::optional<int> wait_for(pid_t child, std::chrono::seconds timeout) {
  const auto deadline = Clock::now() + timeout;
  for (auto pause = 1ms;; pause = std::min(2 * pause, 100ms)) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) return status;
    if (Clock::now() >= deadline) break;
    std::this_thread::sleep_for(pause);
  }
  ::kill(-child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return std::nullopt;
}

/// The last lines that it wrote to standard error, on one line.
std::string last_words(const fs::path& messages) {
  constexpr std::size_t kMostBytes = 400;
  std::ifstream stream(messages);
  std::string text;
  for (std::string line; std::getline(stream, line);) {
    if (line.ends_with('\r')) line.pop_back();  // ssh's own lines
    if (line.empty()) continue;
    text += (text.empty() ? "" : "; ") + line;
    if (text.size() > 2 * kMostBytes) text.erase(0, text.size() - kMostBytes);
  }
  return printable(text.size() > kMostBytes ? text.substr(text.size() - kMostBytes) : text);
}

std::string why_failed(int status, const fs::path& into, const fs::path& messages,
                       const SshOptions& options) {
  std::error_code ignored;
  if (fs::file_size(into, ignored) >= options.most_bytes)
    return fmt::format("it sent more than {} bytes (--max-bytes)", options.most_bytes);
  std::string words = last_words(messages);
  if (words.empty())
    words = WIFEXITED(status) ? fmt::format("exit code {}", WEXITSTATUS(status))
                              : fmt::format("signal {}", WTERMSIG(status));
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoCommand)
    words += "; --remote-ddbench names the command there, --ssh the one here";
  return words;
}

/// Throws for what is neither a store nor empty.
void require_store(const fs::path& arrived, const std::string& host) {
  constexpr std::string_view kStoreBegin("SQLite format 3\0", 16);
  constexpr std::size_t kShownBytes = 60;
  std::string begin(kShownBytes, '\0');
  std::ifstream stream(arrived, std::ios::binary);
  stream.read(begin.data(), kShownBytes);
  begin.resize(static_cast<std::size_t>(stream.gcount()));
  if (begin.empty() || begin.starts_with(kStoreBegin)) return;
  begin.erase(0, begin.find_first_not_of("\r\n"));
  throw Error(ErrorCode::kBadInput,
              fmt::format("{} sent something else than a store (does its shell print text at login?): it begins with \"{}\"", host,
                          printable(begin.substr(0, begin.find_first_of("\r\n")))),
              0, host);
}

}  // namespace

void fetch_by_ssh(const HostSource& source, const SshOptions& options, const fs::path& known,
                  const fs::path& into) {
  fs::path messages = into;
  messages += ".messages";
  const UniqueFd input = opened(known, O_RDONLY);
  const UniqueFd output = opened(into, O_WRONLY | O_CREAT | O_EXCL);
  const UniqueFd errors = opened(messages, O_WRONLY | O_CREAT | O_EXCL);
  const launch::StartedCommand started = launch::start_command(local_command(source, options), [&] {
    prepare(input.get(), output.get(), errors.get(), options.most_bytes);
  });
  if (started.pid < 0) throw_errno(started.error, "cannot start a shell for ssh", ErrorCode::kEnvironment);
  const std::optional<int> status = wait_for(started.pid, options.timeout);
  if (!status)
    throw Error(ErrorCode::kRunFailed,
                fmt::format("it did not end within {} s (--timeout)", options.timeout.count()), 0,
                source.host);
  if (*status != 0)
    throw Error(ErrorCode::kRunFailed, why_failed(*status, into, messages, options), *status, source.host);
  require_store(into, source.host);
}

}  // namespace ddbench::cli
