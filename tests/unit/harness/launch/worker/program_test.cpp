// A rank's program: real processes, without a launcher.
#include "harness/launch/worker/program.h"

#include <gtest/gtest.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <memory>

#include "core/run_case/program_case.h"
#include "harness/launch/worker/program_window.h"
#include "launch_fixture.h"
#include "temporary_directory.h"

namespace ddbench::launch {
namespace {

class ProgramTest : public ::testing::Test {
 protected:
  std::unique_ptr<Program> start(const std::string& script) {
    Program::Options options;
    options.command = {"sh", "-c", script};
    options.preload = "libm.so.6";  // in the place of the library that records
    options.spool = spool();
    options.rank = 0;
    return std::make_unique<Program>(options);
  }
  std::string spool() const { return (directory_.path() / "rank0").string(); }

  pid_t number_in(const char* file) const {
    pid_t pid = 0;
    std::ifstream(directory_.path() / file) >> pid;
    return pid;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(ProgramTest, WhatItLeavesInItsGroupEndsWithItsOwner) {
  auto program = start("sleep 1000 & echo $! >" + (directory_.path() / "left").string() + "; exit 3");
  const int status = program->wait();
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 3);
  ASSERT_GT(number_in("left"), 0);
  EXPECT_TRUE(lives(number_in("left"))) << "other ranks may need it";
  EXPECT_EQ(program->poll(), status) << "as often as it is asked";
  program.reset();
  EXPECT_TRUE(ends_in_time(number_in("left")));
}

/// A process of this number, in a group of its own, that waits; -1 where this user may not choose numbers.
pid_t process_with_number(pid_t number) {
  clone_args arguments{};
  arguments.exit_signal = SIGCHLD;
  arguments.set_tid = reinterpret_cast<std::uintptr_t>(&number);
  arguments.set_tid_size = 1;
  const auto child = static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
  if (child == 0) {
    ::setpgid(0, 0);
    for (;;) ::pause();
  }
  if (child > 0) ::setpgid(child, child);
  return child;
}

TEST_F(ProgramTest, ItsNumberIsNobodyElsesUntilItIsForgotten) {
  auto program = start("echo $$ >" + (directory_.path() / "own").string());
  EXPECT_EQ(program->wait(), 0);
  EXPECT_LT(process_with_number(number_in("own")), 0);  // whom terminate() and kill() would meet
  program->terminate();
  program->kill();
  program.reset();
  const pid_t other = process_with_number(number_in("own"));
  if (other < 0) GTEST_SKIP() << "only root may choose a process's number";
  ::kill(other, SIGKILL);
  EXPECT_EQ(::waitpid(other, nullptr, 0), other);
}

TEST_F(ProgramTest, ASignalIsInItsStatus) {
  const int status = start("kill -9 $$")->wait();
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

TEST_F(ProgramTest, OneThatGoesOnEndsWithItsOwner) {
  auto program = start("echo $$ >" + (directory_.path() / "own").string() + "; echo >" + (directory_.path() / "is_there").string() + "; sleep 1000");
  while (!std::filesystem::exists(directory_.path() / "is_there")) ASSERT_FALSE(program->poll());
  program.reset();
  EXPECT_FALSE(lives(number_in("own")));
}

/// Nobody else sets anything.
class OwnKeys final : public collective::KeyValueStore {
 public:
  void set(const std::string& key, const collective::Bytes& value) override { values_[key] = value; }
  collective::Bytes get(const std::string& key, std::chrono::milliseconds) override { return values_.at(key); }

  std::map<std::string, collective::Bytes> values_;
};

TEST_F(ProgramTest, OneThatEndsBeforeItsWindowKeepsNoOtherRankWaiting) {
  RunCase run_case;
  set_program(run_case, {"a program"});
  run_case.gpus_per_node = 2;
  run_case.measure = 100;
  run_case.after = AfterWindow::kStop;
  OwnKeys keys;
  const ProgramEnd done = wait_for_end(*start("exit 0"), run_case, 1, spool(), keys);
  EXPECT_EQ(done.status, 0);
  EXPECT_FALSE(done.after_its_window);
  EXPECT_TRUE(keys.values_.contains("program.window_over.1"));

  keys.values_.clear();
  EXPECT_NE(wait_for_end(*start("exit 3"), run_case, 1, spool(), keys).status, 0);
  EXPECT_TRUE(keys.values_.empty()) << "the failure ends the others";
}

}  // namespace
}  // namespace ddbench::launch
