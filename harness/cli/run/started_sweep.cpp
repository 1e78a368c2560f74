#include "harness/cli/run/started_sweep.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/error.h"
#include "harness/launch/remote/started_rank.h"

namespace ddbench::cli {
namespace {

volatile sig_atomic_t rank_of_this_turn = 0;

/// The turn's rank is a child process, and reports the request to end to its launcher.
extern "C" void pass_on_sigterm(int signal) {
  if (rank_of_this_turn <= 0) ::_exit(static_cast<int>(ErrorCode::kInterrupted));
  (void)::kill(static_cast<pid_t>(rank_of_this_turn), signal);
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : static_cast<int>(ErrorCode::kRunFailed);
}

/// Each turn is a process of its own: changes that a rank makes to its process end with it.
template <typename Body>
int in_child(const Body& body) {
  const pid_t child = ::fork();
  if (child < 0) throw_errno(errno, "cannot start the rank of a sweep", ErrorCode::kEnvironment);
  if (child == 0) {
    ::signal(SIGTERM, SIG_DFL);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::_exit(body());
  }
  rank_of_this_turn = child;
  const int exit_code = wait_for(child);
  rank_of_this_turn = 0;
  return exit_code;
}

}  // namespace

StartedSweep::StartedSweep(const launch::LauncherOptions& launcher, const std::vector<experiment::SweepCell>& cells)
    : cells_(cells), launcher_(launcher), world_(launcher) {
  const launch::StartedWorld& world = world_.world();
  for (const experiment::SweepCell& cell : cells) {
    const RunCase& run_case = cell.run_case;
    if (run_case.backend == "mpi") {
      throw Error(ErrorCode::kBadInput,
                  "--launcher env: ranks that mpirun has started are one world of MPI, whose size cannot be swept; take --backend gloo "
                  "or nccl, or --launcher mpirun");
    }
    if (run_case.nodes <= world.nodes && run_case.gpus_per_node <= world.gpus_per_node) continue;
    throw Error(ErrorCode::kBadInput, fmt::format("the sweep has {} nodes x {} ranks, but {} nodes x {} ranks were started",
                                                  run_case.nodes, run_case.gpus_per_node, world.nodes, world.gpus_per_node));
  }
}

launch::TurnPlace StartedSweep::turn_of(std::size_t index) const {
  const RunCase& run_case = cells_[index].run_case;
  return {static_cast<int>(index), run_case.nodes, run_case.gpus_per_node};
}

void StartedSweep::gather() {
  caller_ = std::make_unique<launch::TurnCaller>(world_, launcher_);
}

launch::LauncherOptions StartedSweep::begin(const experiment::SweepCell& cell) {
  const auto found = std::find_if(cells_.begin(), cells_.end(), [&](const experiment::SweepCell& each) {
    return each.repetition == cell.repetition && each.run_case == cell.run_case;
  });
  const launch::TurnPlace turn = turn_of(static_cast<std::size_t>(found - cells_.begin()));
  caller_->call(turn.number);
  return world_.enter(turn);
}

int StartedSweep::follow(const std::filesystem::path& checkpoints) {
  launch::TurnFollower follower(world_, launcher_);
  struct sigaction action {};
  action.sa_handler = &pass_on_sigterm;
  ::sigaction(SIGTERM, &action, nullptr);
  int worst = 0;
  for (;;) {
    const auto next = follower.next();
    if (const auto* end = std::get_if<launch::TurnsEnd>(&next)) return std::max(worst, end->exit_code);
    const auto index = static_cast<std::size_t>(std::get<launch::Turn>(next).number);
    if (index >= cells_.size()) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("rank 0 calls cell {} of the sweep, which has {} here: start all ranks with the same command", index + 1,
                              cells_.size()));
    }
    const launch::TurnPlace turn = turn_of(index);
    if (!launch::takes_part(world_.world(), turn)) continue;
    const int exit_code = in_child([&] {
      const launch::LauncherOptions launcher = world_.enter(turn);
      return launch::run_started_rank(launcher, {cells_[index].run_case, checkpoints});
    });
    worst = std::max(worst, exit_code);
  }
}

void StartedSweep::finish(int exit_code) {
  caller_->finish(exit_code);
}

}  // namespace ddbench::cli
