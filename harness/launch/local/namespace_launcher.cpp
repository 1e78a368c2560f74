#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <fstream>
#include <vector>

#include "core/error.h"
#include "core/library_error/as_error.h"
#include "harness/launch/local/namespace_init.h"
#include "harness/launch/local/namespace_launcher.h"
#include "harness/launch/local/namespaces.h"

namespace ddbench::launch {
namespace {

/// Everything else the launcher has open - its store, the lock of its run directory - is none of our
/// business, and must not outlive it through us.
void close_all_but(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned first = STDERR_FILENO + 1;
  for (const int fd : kept) {
    if (static_cast<unsigned>(fd) > first) ::close_range(first, static_cast<unsigned>(fd) - 1, 0);
    first = static_cast<unsigned>(fd) + 1;
  }
  ::close_range(first, ~0U, 0);
}

/// The launcher's handlers and mask are its own. What arrives here is waited for: sigwait in this process,
/// signalfd in the next. SIGTERM and the signals of a terminal may come to all processes of a job; it is the
/// launcher's to answer them.
void reset_signals() {
  for (const int signal : {SIGTERM, SIGCHLD, SIGPIPE, SIGUSR1, SIGUSR2}) ::signal(signal, SIG_DFL);
  for (const int signal : {SIGINT, SIGHUP, SIGQUIT}) ::signal(signal, SIG_IGN);
  sigset_t held_back;
  ::sigemptyset(&held_back);
  for (const int signal : {kEndSignal, SIGCHLD, SIGTERM}) ::sigaddset(&held_back, signal);
  ::sigprocmask(SIG_SETMASK, &held_back, nullptr);
}

void wait_for_end_of(pid_t child) {
  sigset_t waited;
  ::sigemptyset(&waited);
  ::sigaddset(&waited, kEndSignal);
  ::sigaddset(&waited, SIGCHLD);
  while (::waitpid(child, nullptr, WNOHANG) == 0) {
    if (::sigwaitinfo(&waited, nullptr) == kEndSignal) {
      ::kill(child, SIGKILL);
      // The wait for the init of a pid namespace ends when nothing is left in it.
      while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
      }
      return;
    }
  }
}

/// Without a pid namespace, ranks (and the processes that they started) that outlive their parent become our
/// children: this process is their subreaper.
void kill_orphans() {
  for (;;) {
    std::ifstream children("/proc/thread-self/children");
    for (pid_t child = 0; children >> child;) ::kill(child, SIGKILL);
    if (::waitpid(-1, nullptr, 0) < 0 && errno != EINTR) return;
  }
}

}  // namespace

void run_outer_process(const FabricPlan& plan, Isolation isolation, int socket, pid_t launcher) noexcept {
  try {
    ::setsid();  // Ctrl-C on the terminal is for the launcher alone
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    std::vector<int> kept = plan.control_fds;
    kept.push_back(socket);
    close_all_but(kept);
    reset_signals();
    const bool user_namespace = isolation != Isolation::kNone && enter_own_namespaces(has_own_network(isolation));
    // After the namespaces: a change of credentials takes the wish back.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != launcher) ::_exit(1);
    const pid_t child = static_cast<pid_t>(check_posix(::fork(), "fork", ErrorCode::kEnvironment));
    if (child == 0) run_init_process(plan, isolation, user_namespace, socket);
    close_all_but({});
    wait_for_end_of(child);
    kill_orphans();
    ::_exit(0);
  } catch (const std::exception& error) {
    const Error failure = as_error(error);
    send(socket, FabricEvent{FabricEvent::Kind::kFailed, -1, failure.native_code(), failure.message()});
  }
  ::_exit(1);
}

}  // namespace ddbench::launch
