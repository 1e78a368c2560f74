#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "hang_limit.h"
#include "launch_fixture.h"

namespace ddbench::launch {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

/// A launcher in a process of its own, whose ranks train until something ends them.
class LauncherDeathTest : public ::testing::Test {
 protected:
  void start(const char* scenario) {
    ::setenv("LAUNCH_TEST_SCENARIO", scenario, 1);
    ::setenv("LAUNCH_TEST_CULPRIT", "1", 1);
    launcher_ = ::fork();
    if (launcher_ != 0) return;
    LaunchOptions options;
    options.run_id = "test";
    options.run_directory = directory_.path();
    options.executable = LAUNCH_TEST_RANK;
    RecordingObserver observer;
    RunCase run_case;
    run_case.nodes = 2;
    run_case.gpus_per_node = 2;
    run_case.steps = 20;
    launch_local(run_case, options, observer);
    ::_exit(0);
  }

  /// Until the file is there and written.
  bool wait_for(const char* file) const {
    std::error_code missing;
    const auto is_written = [&] {
      const std::uintmax_t size = fs::file_size(directory_.path() / file, missing);
      return !missing && size > 0;
    };
    const auto deadline = std::chrono::steady_clock::now() + test::kHangs;
    while (!is_written() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(10ms);
    return is_written();
  }

  void kill_launcher() {
    ::kill(launcher_, SIGKILL);
    ::waitpid(launcher_, nullptr, 0);
  }

  void expect_nothing_left() {
    for (int rank = 0; rank < 4; ++rank) {
      const RankTrace trace = read_trace(directory_.path(), rank);
      EXPECT_GT(trace.pid, 0);
      EXPECT_TRUE(ends_in_time(trace.pid)) << rank;
      const auto is_left = [&] { return anybody_in(trace.network_namespace) && own_namespace(trace); };
      const auto deadline = std::chrono::steady_clock::now() + test::kHangs;
      while (is_left() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(10ms);
      EXPECT_FALSE(is_left()) << "the network namespace of rank " << rank;
    }
  }

  static bool own_namespace(const RankTrace& trace) {
    struct stat info {};
    return ::stat("/proc/self/ns/net", &info) == 0 && info.st_ino != trace.network_namespace;
  }

  test::TemporaryDirectory directory_;
  pid_t launcher_ = -1;
};

TEST_F(LauncherDeathTest, AKilledLauncherLeavesNoProcessAndNoNamespace) {
  start("forever");
  for (const char* file : {"rank0.trace", "rank1.trace", "rank2.trace", "rank3.trace"})
    ASSERT_TRUE(wait_for(file));
  kill_launcher();
  expect_nothing_left();
}

TEST_F(LauncherDeathTest, AlsoNotWhatIsStoppedAndDetached) {
  start("daemon");
  ASSERT_TRUE(wait_for("daemon.trace"));
  pid_t daemon = 0;
  std::ifstream(directory_.path() / "daemon.trace") >> daemon;
  const bool own = own_namespace(read_trace(directory_.path(), 1));
  kill_launcher();
  expect_nothing_left();
  if (!own) {
    ::kill(daemon, SIGKILL);
    GTEST_SKIP() << "no pid namespaces here: only they find detached processes";
  }
  EXPECT_TRUE(ends_in_time(daemon));
}

}  // namespace
}  // namespace ddbench::launch
