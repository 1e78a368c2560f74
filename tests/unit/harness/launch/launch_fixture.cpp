#include "hang_limit.h"
#include "launch_fixture.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "core/run_case/program_case.h"

namespace ddbench::launch {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

RankTrace read_trace(const fs::path& directory, int rank) {
  RankTrace trace;
  std::ifstream(directory / fmt::format("rank{}.trace", rank)) >> trace.pid >> trace.network_namespace >>
      trace.world_size >> trace.local_rank >> trace.local_world_size >> trace.node_rank >>
      trace.master_address >> trace.master_port >> trace.address >> trace.nccl_host;
  return trace;
}

bool lives(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/stat", pid));
  std::string text;
  if (pid <= 0 || !std::getline(status, text)) return false;
  const char state = text[text.rfind(')') + 2];
  return state != 'Z' && state != 'X';
}

bool ends_in_time(pid_t pid) {
  const auto deadline = std::chrono::steady_clock::now() + test::kHangs;
  while (lives(pid) && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(10ms);
  return !lives(pid);
}

bool anybody_in(ino_t network_namespace) {
  for (const auto& process : fs::directory_iterator("/proc")) {
    struct stat info {};
    if (::stat((process.path() / "ns/net").c_str(), &info) == 0 && info.st_ino == network_namespace)
      return true;
  }
  return false;
}

std::vector<pid_t> children() {
  std::vector<pid_t> found;
  std::ifstream list("/proc/thread-self/children");
  for (pid_t pid = 0; list >> pid;) found.push_back(pid);
  return found;
}

std::size_t open_files() {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

LaunchTest::LaunchTest() {
  options_.run_id = "test";
  options_.run_directory = directory_.path();
  options_.executable = LAUNCH_TEST_RANK;
  options_.start_deadline = test::kHangs;
  options_.watchdog = test::kHangs;
  options_.grace = test::kHangs;
}

LaunchOutcome LaunchTest::launch(const std::string& scenario, int culprit, int nodes, int gpus_per_node) {
  ::setenv("LAUNCH_TEST_SCENARIO", scenario.c_str(), 1);
  ::setenv("LAUNCH_TEST_CULPRIT", std::to_string(culprit).c_str(), 1);
  RunCase run_case;
  run_case.nodes = nodes;
  run_case.gpus_per_node = gpus_per_node;
  run_case.steps = 20;
  if (runs_program_) set_program(run_case, {"a program"});
  const std::size_t files = open_files();
  LaunchOutcome outcome = launch_local(run_case, options_, observer_);
  EXPECT_EQ(open_files(), files);
  EXPECT_TRUE(children().empty());
  EXPECT_EQ(outcome.ranks.size(), static_cast<std::size_t>(run_case.world_size()));
  for (const store::RankRecord& rank : outcome.ranks) {
    EXPECT_FALSE(lives(static_cast<pid_t>(rank.pid))) << rank.rank;
    EXPECT_FALSE(rank.outcome.empty()) << rank.rank;
    const RankTrace trace = read_trace(directory_.path(), rank.rank);
    if (trace.pid != 0) {
      EXPECT_EQ(trace.pid, rank.pid);
    }
  }
  return outcome;
}

}  // namespace ddbench::launch
