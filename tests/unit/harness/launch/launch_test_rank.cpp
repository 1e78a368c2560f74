// A rank that misbehaves on demand: LAUNCH_TEST_SCENARIO selects how, LAUNCH_TEST_CULPRIT which rank. It uses
// the real control protocol; instead of training it meets its peers in the launcher's key-value map once per
// step.

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "core/clock.h"
#include "harness/launch/machine/pinning.h"
#include "harness/launch/machine/process_facts.h"
#include "harness/launch/worker/worker_session.h"

namespace ddbench::launch {
namespace {

using namespace std::chrono_literals;

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

class TestRank {
 public:
  explicit TestRank(int control_fd)
      : scenario_(from_environment("LAUNCH_TEST_SCENARIO")),
        rank_(std::atoi(from_environment("RANK").c_str())),
        culprit_(std::to_string(rank_) == from_environment("LAUNCH_TEST_CULPRIT")),
        control_fd_(control_fd) {}

  int run() {
    if (culprit_ && scenario_ == "mute") sleep_forever();
    session_.emplace(UniqueFd(control_fd_), state_, [] { ::_exit(1); });
    assignment_ = session_->join(rank_, 10min);
    const std::vector<int> all = ordered_cores();
    const std::string cores = pin_to_core(all.at(static_cast<std::size_t>(assignment_.core_slot) % all.size()));
    leave_trace();
    session_->send(Ready{"test transport " + assignment_.address, cores, session_->read_clock(10min)});
    try {
      train();
    } catch (const Error& error) {
      // Before the failure, so that the culprit dies well within the time in which its death is awaited. The failure is still the first
      // that the launcher learns of: it comes on the same connection, and the death later.
      if (scenario_ == "secondary") session_->set(fmt::format("complained/{}", rank_), {});
      session_->send(
          Failure{error.code(), error.message(), 0, "", error.code() == ErrorCode::kRunFailed, 5, 6});
      return 1;
    }
    session_->send(Result{2.0, 1.0, "hash", 3, peak_memory_bytes(), 0, 0, session_->read_clock(10min), "", state_.snapshot().steps_completed});
    session_->wait_for_finish();
    return 0;
  }

 private:
  [[noreturn]] void sleep_forever() const {
    ::signal(SIGTERM, SIG_IGN);
    for (;;) ::pause();
  }

  /// For the test: which process this is and in which namespaces.
  void leave_trace() const {
    struct stat network {};
    ::stat("/proc/self/ns/net", &network);
    const std::filesystem::path directory = std::filesystem::path(assignment_.spool).parent_path();
    std::ofstream(directory / fmt::format("rank{}.trace", rank_))
        << host_pid() << ' ' << network.st_ino << ' ' << from_environment("WORLD_SIZE") << ' '
        << from_environment("LOCAL_RANK") << ' ' << from_environment("LOCAL_WORLD_SIZE") << ' '
        << from_environment("NODE_RANK") << ' ' << from_environment("MASTER_ADDR") << ' '
        << from_environment("MASTER_PORT") << ' ' << assignment_.address << ' '
        << from_environment("NCCL_HOSTID") << '\n';
  }

  void train() {
    const auto steps = static_cast<std::uint32_t>(assignment_.run_case.total_steps());
    for (std::uint32_t step = 0; step < steps || scenario_ == "forever" || scenario_ == "daemon"; ++step) {
      if (culprit_ && step == 8) misbehave();
      state_.on_collective_begin("all_reduce", step + 1);
      meet_peers(step);
      state_.on_collective_end(step + 1);
      state_.on_step(step, 2.0 / (step + 1));
      if (step >= steps) std::this_thread::sleep_for(1ms);
    }
  }

  void meet_peers(std::uint32_t step) {
    if (scenario_ == "deaf" && rank_ == 0 && step == 8) {
      session_->get("deaf", 600s);
      ::raise(SIGKILL);
    }
    session_->set(fmt::format("{}/{}", step, rank_), {'x'});
    for (int peer = 0; peer < assignment_.world_size; ++peer) {
      const bool broken = scenario_ == "secondary" && step == 8 && std::to_string(peer) == from_environment("LAUNCH_TEST_CULPRIT");
      // A broken connection is noticed at once, a missing peer never.
      session_->get(fmt::format("{}/{}", step, peer), broken ? 20ms : 600s);
    }
  }

  void misbehave() {
    session_->send(state_.snapshot());  // the launcher knows of the last step
    if (scenario_ == "exit") {
      fmt::print(stderr, "first line\nno more electricity\n");
      ::_exit(3);
    }
    if (scenario_ == "secondary") session_->get("complained/0", 600s);  // a peer complains first
    if (scenario_ == "kill" || scenario_ == "secondary") ::raise(SIGKILL);
    if (scenario_ == "stop") ::raise(SIGSTOP);
    if (scenario_ == "late") std::this_thread::sleep_for(600s);
    if (scenario_ == "deaf") {
      session_->set("deaf", {});
      sleep_forever();
    }
    if (scenario_ == "error")
      throw Error(ErrorCode::kEnvironment, "cannot write the spool /x: no space left");
    if (scenario_ == "quit") ::_exit(0);
    if (scenario_ == "garbage") {
      static_cast<void>(::write(control_fd_, "\xff\xff\xff\xff garbage", 12));
      sleep_forever();
    }
    if (scenario_ == "daemon") detach();
  }

  /// A process that no parent would find: its own session, its parent gone, and stopped.
  void detach() const {
    if (::fork() != 0) return;
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    ::prctl(PR_SET_PDEATHSIG, 0);
    const std::filesystem::path directory = std::filesystem::path(assignment_.spool).parent_path();
    std::ofstream(directory / "daemon.new") << host_pid() << '\n';
    std::filesystem::rename(directory / "daemon.new", directory / "daemon.trace");
    for (;;) ::raise(SIGSTOP);
  }

  std::string scenario_;
  int rank_;
  bool culprit_;
  int control_fd_;
  TrainingState state_;
  std::optional<WorkerSession> session_;
  Assignment assignment_;
};

}  // namespace
}  // namespace ddbench::launch

int main(int argc, char** argv) {
  if (argc != 4 || std::string(argv[1]) != "worker" || std::string(argv[2]) != "--control-fd") return 64;
  return ddbench::launch::TestRank(std::atoi(argv[3])).run();
}
