#include "harness/launch/start/job_process.h"

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

#include "core/error.h"
#include "harness/launch/start/start_command.h"

namespace ddbench::launch {
namespace {

using namespace std::chrono_literals;

constexpr auto kTidiesUpIn = 5000ms;  // after SIGTERM: mpirun and srun end their ranks first

void prepare(const JobProcess::Options& options) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const int log = ::open(options.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(log >= 0 ? log : nothing, STDOUT_FILENO);
  ::dup2(log >= 0 ? log : nothing, STDERR_FILENO);
  for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
}

}  // namespace

JobProcess::JobProcess(const Options& options) {
  const StartedCommand started = start_command(options.command, [&] { prepare(options); });
  pid_ = started.pid;
  if (pid_ > 0) return;
  throw Error(ErrorCode::kEnvironment,
              fmt::format("{} cannot be executed: {}. It must be installed where ddbench is started",
                          options.command.front(), std::generic_category().message(started.error)),
              started.error, options.command.front());
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
