#include "harness/launch/start/start_command.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "core/error.h"
#include "core/unique_handle.h"

namespace ddbench::launch {
namespace {

/// In the child: reports through `failure` why it could not execute the command.
[[noreturn]] void become(const std::vector<std::string>& command, const std::function<void()>& prepare,
                         int failure) {
  ::setpgid(0, 0);
  prepare();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD}) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  const int error = errno;
  static_cast<void>(!::write(failure, &error, sizeof error));
  ::_exit(127);
}

}  // namespace

StartedCommand start_command(const std::vector<std::string>& command, const std::function<void()>& prepare) {
  int ends[2] = {-1, -1};
  check_posix(::pipe2(ends, O_CLOEXEC), "no pipe can be made for " + command.front(),
              ErrorCode::kEnvironment);
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const pid_t pid = static_cast<pid_t>(
      check_posix(::fork(), "no process can be made for " + command.front(), ErrorCode::kEnvironment));
  if (pid == 0) become(command, prepare, writing.get());
  writing.reset();
  int error = 0;
  if (::read(reading.get(), &error, sizeof error) != sizeof error) return {pid, 0};
  ::waitpid(pid, nullptr, 0);
  return {-1, error};
}

}  // namespace ddbench::launch
