#include "harness/launch/local/namespace_init.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <exception>

#include "core/error.h"
#include "core/facts/facts.h"
#include "core/library_error/as_error.h"
#include "harness/launch/local/node_network.h"
#include "harness/launch/local/rank_process.h"
#include "harness/launch/machine/own_processes.h"

namespace ddbench::launch {
namespace {

class InitProcess {
 public:
  InitProcess(const FabricPlan& plan, Isolation isolation, bool user_namespace, int socket)
      : plan_(plan), socket_(socket), network_(plan, isolation), isolation_(isolation) {
    sigset_t child_ended;
    ::sigemptyset(&child_ended);
    ::sigaddset(&child_ended, SIGCHLD);
    signals_.reset(
        static_cast<int>(check_posix(::signalfd(-1, &child_ended, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd")));
    if (user_namespace) report_fact(std::string(fact_key<"network.user_namespace">.name), "yes");
  }

  void run() {
    if (isolation_ == Isolation::kProcesses) require_own_proc();
    for (const auto& [key, value] : network_.set_up()) report_fact(key, value);
    report(FabricEvent::Kind::kReady);
    while (!finished_) {
      pollfd fds[] = {{socket_, POLLIN, 0}, {signals_.get(), POLLIN, 0}};
      ::poll(fds, 2, -1);
      // A launcher that is gone takes everything with it, now.
      if ((fds[0].revents & (POLLHUP | POLLERR)) != 0) ::_exit(1);
      signalfd_siginfo info;
      while (::read(signals_.get(), &info, sizeof info) > 0) {
      }
      reap(WNOHANG);
      bool gone = false;
      while (const auto command = receive_command(socket_, gone)) obey(*command);
    }
  }

 private:
  /// A program has little of the pid namespace itself, but CUDA would not start in it without that.
  void require_own_proc() {
    const pid_t child = static_cast<pid_t>(check_posix(::fork(), "fork", ErrorCode::kEnvironment));
    if (child == 0) ::_exit(show_own_processes() ? 0 : 1);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0) throw Error(ErrorCode::kEnvironment, "no /proc of its own can be mounted for a pid namespace here");
  }

  void report(FabricEvent::Kind kind, int rank = -1, int value = 0) {
    send(socket_, FabricEvent{kind, rank, value, {}});
  }
  void report_fact(const std::string& key, const std::string& value) {
    send(socket_, FabricEvent{FabricEvent::Kind::kFact, -1, 0, key + "=" + value});
  }

  void obey(const FabricCommand& command) {
    switch (command.kind) {
      case FabricCommand::Kind::kLaunch: return launch();
      case FabricCommand::Kind::kKill: return kill(static_cast<std::size_t>(command.rank));
      case FabricCommand::Kind::kFinish: return finish();
    }
  }

  void launch() {
    const int port = rendezvous_port(plan_, isolation_);
    for (int rank = 0; rank < static_cast<int>(plan_.control_fds.size()); ++rank) {
      const int node = rank / plan_.ranks_per_node;
      ranks_.push_back(start_rank(plan_, rank, isolation_, port, network_.namespace_of(node), socket_));
    }
    // Only the ranks hold their ends now: a rank's end is seen on its channel.
    for (const int fd : plan_.control_fds) ::close(fd);
  }

  void reap(int options) {
    int status = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &status, options)) > 0 || (pid < 0 && errno == EINTR);) {
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        if (ranks_[rank] != pid || pid < 0) continue;
        ranks_[rank] = -1;
        report(FabricEvent::Kind::kExited, static_cast<int>(rank), status);
      }
    }
  }

  void kill(std::size_t rank) {
    if (rank < ranks_.size() && ranks_[rank] > 0) ::kill(ranks_[rank], SIGKILL);
  }

  void finish() {
    for (const auto& [key, value] : network_.read_statistics()) report_fact(key, value);
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) kill(rank);
    if (isolation_ != Isolation::kNone) ::kill(-1, SIGKILL);  // all in this pid namespace, but its init
    reap(0);
    report(FabricEvent::Kind::kFinished);
    finished_ = true;
  }

  const FabricPlan& plan_;
  int socket_;
  NodeNetwork network_;
  Isolation isolation_;
  UniqueFd signals_;
  std::vector<pid_t> ranks_;  // -1: ended
  bool finished_ = false;
};

}  // namespace

void run_init_process(const FabricPlan& plan, Isolation isolation, bool user_namespace, int socket) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    InitProcess(plan, isolation, user_namespace, socket).run();
    ::_exit(0);
  } catch (const std::exception& error) {
    const Error failure = as_error(error);
    send(socket, FabricEvent{FabricEvent::Kind::kFailed, -1, failure.native_code(), failure.message()});
  }
  ::_exit(1);
}

}  // namespace ddbench::launch
