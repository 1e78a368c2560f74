#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "harness/launch/machine/pinning.h"
#include "harness/launch/machine/process_facts.h"
#include "harness/launch/machine/sigterm.h"
#include "harness/launch/remote/rank_login.h"
#include "harness/launch/remote/remote_launch.h"
#include "harness/launch/remote/started_rank.h"
#include "harness/launch/trust/run_token.h"
#include "harness/launch/worker/worker.h"

namespace ddbench::launch {
namespace {

using namespace std::chrono_literals;

/// The launcher is gone, and no other process would end what this rank has started. No descendant is missed:
/// this process is the subreaper of its descendants.
[[noreturn]] void end_with_descendants() {
  for (bool any = true; any;) {
    any = false;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
      std::ifstream children(thread.path() / "children");
      for (pid_t child = 0; children >> child; any = true) ::kill(child, SIGKILL);
    }
    // Who is killed is a child until it is waited for, and so are its own children then.
    while (any && ::waitpid(-1, nullptr, 0) > 0) {
    }
  }
  ::_exit(static_cast<int>(ErrorCode::kInterrupted));
}

Hello hello_of(const Placement& placement, const std::string& address) {
  Hello hello = introduce(placement.rank);
  hello.local_rank = placement.local_rank;
  hello.world_size = placement.world_size;
  hello.address = address;
  for (const int core : allowed_cores())
    hello.cores += (hello.cores.empty() ? "" : ",") + std::to_string(core);
  return hello;
}

/// Prints to the rank's own standard error: no launcher is connected yet.
int complain(const std::string& message, int exit_code) {
  fmt::print(stderr, "ddbench worker: {}\n", message);
  return exit_code;
}

/// `own`: the content of the rank's command line; null: the launcher is the one that started this process.
int report_to(const Endpoint& launcher, const Credentials& credentials, const Placement& placement,
              std::chrono::milliseconds patience, const OwnCommand* own) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  // Ctrl-C and a closed terminal are the launcher's to answer, and a broken connection is an error that names
  // its collective.
  for (const int signal : {SIGINT, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(signal, SIG_IGN);
  expect_sigterm();
  LauncherConnection connection =
      log_in(launcher, credentials.token, {placement.rank, placement.world_size, credentials.job}, patience);
  const Hello hello = hello_of(placement, local_end(connection.socket.get()).address);
  TrainingState state;
  std::atomic<WorkerSession*> ready{nullptr};
  ShippedFiles files([&ready](const FileChunk& chunk) { ready.load()->send(chunk); });
  WorkerSession session(std::move(connection.socket), connection.keys, state, [&ready, &files] {
    // Rejected: the reason must still be reported.
    const WorkerSession* const self = ready;
    if (self == nullptr || !self->joined()) return;
    files.discard();
    end_with_descendants();
  });
  ready = &session;
  session.ship_from(files);
  const RemoteRank remote{.files = files,
                          .placement = placement,
                          .launcher = launcher,
                          .own = own,
                          .launcher_is_proved = !credentials.token.empty()};
  const int exit_code = work(session, state, hello, &remote);
  const std::string reason = session.refusal();
  return reason.empty() ? exit_code : complain(reason, exit_code);
}

/// A failed rank reports the reason; failures before a launcher is connected go to standard error.
template <typename Body>
int guarded(Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    return complain(error.message(), error.exit_code());
  }
}

}  // namespace

int run_remote_worker() {
  return guarded([] {
    const Variables variables = environment_variables();
    const auto launcher = variables.find(kLauncherVariable);
    const std::string token = take_token();
    if (launcher == variables.end() || token.empty()) {
      throw Error(ErrorCode::kBadInput, "`ddbench worker` is started by `ddbench run`, not by hand");
    }
    return report_to(endpoint_from(launcher->second), {.token = token, .job = {}}, read_placement(variables),
                     30s, nullptr);
  });
}

int run_started_rank(const LauncherOptions& launcher, const OwnCommand& own) {
  return guarded([&] {
    const Placement placement = read_placement(environment_variables());
    const EnvEndpoint at = env_endpoint(launcher, placement);
    return report_to(at.endpoint, at.credentials, placement, launcher.start_deadline, &own);
  });
}

}  // namespace ddbench::launch
