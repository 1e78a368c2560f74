#include "harness/launch/machine/run_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "core/error.h"
#include "core/unique_handle.h"

namespace ddbench::launch {
namespace {

constexpr int kNotFound = 127;
constexpr int kNoNamespace = 126;

UniqueFd memory_file(const char* name) {
  return UniqueFd(static_cast<int>(check_posix(::memfd_create(name, MFD_CLOEXEC), "memfd_create")));
}

void write_input(int fd, const std::string& input) {
  for (std::size_t done = 0; done < input.size();) {
    done +=
        static_cast<std::size_t>(check_posix(::write(fd, input.data() + done, input.size() - done), "memfd"));
  }
  ::lseek(fd, 0, SEEK_SET);
}

std::string read_all(int fd) {
  std::string text(static_cast<std::size_t>(::lseek(fd, 0, SEEK_END)), '\0');
  const ssize_t count = ::pread(fd, text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

[[noreturn]] void become_tool(const ToolCall& call, const std::vector<char*>& arguments, int input,
                              int output) {
  if (call.network_namespace >= 0 && ::setns(call.network_namespace, CLONE_NEWNET) != 0)
    ::_exit(kNoNamespace);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int fd : call.inherited) ::fcntl(fd, F_SETFD, 0);
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::execvp(arguments.front(), arguments.data());
  ::_exit(kNotFound);
}

/// Users' PATHs often lack the directories where iproute2 lives.
void complete_path() {
  const char* path = std::getenv("PATH");
  ::setenv("PATH", fmt::format("{}:/usr/sbin:/sbin:/usr/bin:/bin", path == nullptr ? "" : path).c_str(), 1);
}

std::string on_one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (char& c : text) {
    if (c == '\n') c = ';';
  }
  return text;
}

}  // namespace

std::string run_tool(const ToolCall& call) {
  const UniqueFd input = memory_file("input");
  const UniqueFd output = memory_file("output");
  write_input(input.get(), call.input);
  std::vector<char*> arguments;
  for (const std::string& argument : call.arguments) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  const pid_t child = static_cast<pid_t>(check_posix(::fork(), "fork", ErrorCode::kEnvironment));
  if (child == 0) {
    complete_path();
    become_tool(call, arguments, input.get(), output.get());
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  std::string printed = read_all(output.get());
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return printed;
  const std::string& tool = call.arguments.front();
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotFound && printed.empty()) {
    throw Error(ErrorCode::kEnvironment, fmt::format("`{}` is not installed (package iproute2)", tool),
                ENOENT, tool);
  }
  throw Error(ErrorCode::kEnvironment, fmt::format("`{}` failed: {}", tool, on_one_line(printed)), status,
              tool);
}

}  // namespace ddbench::launch
