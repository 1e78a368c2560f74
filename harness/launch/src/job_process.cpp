#include "job_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <thread>

#include "ddbench/record/error.h"
#include "ddbench/record/unique_handle.h"

namespace ddbench::launch {
namespace {

using namespace std::chrono_literals;

constexpr auto kTidiesUpIn = 5000ms;  // after SIGTERM: mpirun and srun end their ranks first

/// In the child: says through `failure` why it could not become the job.
[[noreturn]] void become(const JobProcess::Options& options, int failure) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const int log = ::open(options.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(log >= 0 ? log : nothing, STDOUT_FILENO);
  ::dup2(log >= 0 ? log : nothing, STDERR_FILENO);
  for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD}) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  std::vector<char*> arguments;
  for (const std::string& argument : options.command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  const int error = errno;
  static_cast<void>(!::write(failure, &error, sizeof error));
  ::_exit(127);
}

}  // namespace

JobProcess::JobProcess(const Options& options) {
  int ends[2] = {-1, -1};
  check_posix(::pipe2(ends, O_CLOEXEC), "no pipe can be made", ErrorCode::kEnvironment);
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  pid_ = static_cast<pid_t>(check_posix(::fork(), "no process can be made", ErrorCode::kEnvironment));
  if (pid_ == 0) become(options, writing.get());
  writing.reset();
  int error = 0;
  if (::read(reading.get(), &error, sizeof error) == sizeof error) {
    ::waitpid(pid_, nullptr, 0);
    throw Error(ErrorCode::kEnvironment,
                fmt::format("{} cannot be executed: {}. It must be installed where ddbench is started",
                            options.command.front(), std::generic_category().message(error)),
                error, options.command.front());
  }
}

JobProcess::~JobProcess() {
  finish(0ms);
}

std::optional<int> JobProcess::ended() {
  int status = 0;
  if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
  return status_;
}

bool JobProcess::ends_within(std::chrono::milliseconds timeout) noexcept {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (!ended()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

void JobProcess::finish(std::chrono::milliseconds timeout) noexcept {
  if (ends_within(timeout)) return;
  ::kill(-pid_, SIGTERM);
  if (ends_within(kTidiesUpIn)) return;
  ::kill(-pid_, SIGKILL);
  ends_within(kTidiesUpIn);
}

}  // namespace ddbench::launch
