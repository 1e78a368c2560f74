#include "forked_ranks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

#include "core/error.h"
#include "core/unique_handle.h"

namespace ddbench::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Child {
  pid_t pid = -1;
  UniqueFd pipe;
};

// The first byte states whether the body threw, the rest is the text.
void write_all(int fd, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(fd, text.data() + done, text.size() - done);
    if (written < 0) return;
    done += static_cast<std::size_t>(written);
  }
}

[[noreturn]] void be_rank(int rank, const RankBody& body, const fs::path& directory, int fd) {
  DirectoryStore rendezvous(directory);
  ::signal(SIGPIPE, SIG_IGN);  // as a worker does: a broken connection is an error, not the end
  try {
    write_all(fd, "0" + body(rank, rendezvous));
  } catch (const Error& error) {
    write_all(fd, "1Error: " + error.message());
  } catch (const std::exception& error) {
    write_all(fd, std::string("1exception: ") + error.what());
  }
  _exit(0);
}

Child start(int rank, const RankBody& body, const fs::path& directory) {
  int ends[2];
  check_posix(pipe2(ends, O_CLOEXEC), "pipe");
  UniqueFd read_end(ends[0]);
  const UniqueFd write_end(ends[1]);
  const pid_t pid = static_cast<pid_t>(check_posix(fork(), "fork"));
  if (pid == 0) be_rank(rank, body, directory, write_end.get());
  return {pid, std::move(read_end)};
}

RankOutcome finish(const Child& child, Clock::time_point deadline) {
  std::string text;
  bool killed = false;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd ready{child.pipe.get(), POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(left, 0))) == 0 && !killed) {
      kill(child.pid, SIGKILL);
      killed = true;
    }
    char bytes[4096];
    const ssize_t got = read(child.pipe.get(), bytes, sizeof(bytes));
    if (got <= 0) break;
    text.append(bytes, static_cast<std::size_t>(got));
  }
  int status = 0;
  waitpid(child.pid, &status, 0);
  RankOutcome outcome;
  outcome.killed_by_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  outcome.failed = !text.empty() && text[0] == '1';
  if (!text.empty()) outcome.text = text.substr(1);
  return outcome;
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
  std::string name = (fs::temp_directory_path() / "ddbench_test_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw_errno(errno, "make a temporary directory");
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path DirectoryStore::file_of(const std::string& key) const {
  std::string name = key;
  std::replace(name.begin(), name.end(), '/', '_');
  return directory_ / name;
}

void DirectoryStore::set(const std::string& key, const collective::Bytes& value) {
  const fs::path file = file_of(key);
  const fs::path unfinished = fmt::format("{}.{}", file.string(), getpid());
  std::ofstream(unfinished, std::ios::binary).write(value.data(), static_cast<std::streamsize>(value.size()));
  fs::rename(unfinished, file);
}

collective::Bytes DirectoryStore::get(const std::string& key, std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  do {  // at least once, however late this thread gets a core
    std::ifstream file(file_of(key), std::ios::binary);
    if (file) return {std::istreambuf_iterator<char>(file), {}};
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  } while (Clock::now() < deadline);
  throw Error(ErrorCode::kRunFailed, fmt::format("nobody set {} within {} ms", key, timeout.count()));
}

std::vector<RankOutcome> run_ranks(int world, const RankBody& body, std::chrono::seconds limit) {
  const TemporaryDirectory rendezvous;
  const Clock::time_point deadline = Clock::now() + limit;
  std::vector<Child> children;
  for (int rank = 0; rank < world; ++rank) children.push_back(start(rank, body, rendezvous.path()));
  std::vector<RankOutcome> outcomes;
  for (const Child& child : children) outcomes.push_back(finish(child, deadline));
  return outcomes;
}

}  // namespace ddbench::test
