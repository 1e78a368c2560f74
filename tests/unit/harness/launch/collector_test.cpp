#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "harness/launch/machine/process_facts.h"
#include "harness/launch/remote/remote_processes.h"
#include "harness/launch/supervisor/supervisor.h"
#include "harness/launch/trust/run_token.h"
#include "hang_limit.h"
#include "launch_fixture.h"
#include "sent_bytes.h"

namespace ddbench::launch {
namespace {

using namespace std::chrono_literals;

constexpr int kRanks = 512;
constexpr int kChunks = 12;  // 384 KiB a rank, 192 MiB in all

/// Takes its time, as a full disk would: what ranks send meanwhile must wait where they are.
class SlowObserver final : public LaunchObserver {
 public:
  void on_network(const std::string&, const std::string&) override {}
  void on_progress(const RankProgress&) override {}
  void on_tick() override { std::this_thread::sleep_for(300ms); }
  bool interrupted() override { return false; }
};

void forget_peak_memory() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

void expect_whole(const std::filesystem::path& directory, int rank) {
  std::ifstream file(directory / ("rank" + std::to_string(rank) + ".spool"), std::ios::binary);
  collective::Bytes bytes(kChunks * FileChunk::kMostBytes + 1);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  ASSERT_EQ(file.gcount(), kChunks * FileChunk::kMostBytes) << rank;
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    const collective::Bytes expected = sent_bytes(rank, chunk);
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), bytes.begin() + chunk * std::ssize(expected)));
  }
}

TEST(Collector, HoldsFiveHundredRanksInBoundedMemory) {
  const test::TemporaryDirectory directory;
  RunCase run_case;
  run_case.gpus_per_node = kRanks;
  LaunchOptions options;
  options.run_id = "test";
  options.run_directory = directory.path();
  // One process is all ranks, in turn: on a busy machine, and under ASan, some are silent for longer than a real one.
  options.watchdog = options.start_deadline = test::kHangs;
  RemoteJob job;
  job.launcher = "test";
  job.command = {LAUNCH_TEST_SENDERS, std::to_string(kRanks), std::to_string(kChunks)};
  job.listen = {"127.0.0.1", 0};
  job.credentials.started.token = new_token();
  SlowObserver observer;
  forget_peak_memory();
  const std::int64_t before = peak_memory_bytes();
  LaunchOutcome outcome;
  {
    RemoteProcesses processes(job, kRanks, directory.path() / "launcher.log");
    outcome = Supervisor(run_case, options, observer, processes, {}).run();
  }
  const std::int64_t grown = peak_memory_bytes() - before;
  ASSERT_EQ(outcome.state, store::RunState::kDone) << outcome.reason;
  ASSERT_EQ(outcome.ranks.size(), static_cast<std::size_t>(kRanks));
  for (int rank = 0; rank < kRanks; ++rank) expect_whole(directory.path(), rank);
  std::ifstream log(directory.path() / "launcher.log");
  std::string word;
  int waits = 0;
  log >> word >> waits;
  EXPECT_GT(waits, 0) << "ranks waited while the launcher did not read";
  RecordProperty("grown_bytes", std::to_string(grown));
#ifndef DDBENCH_SANITIZED
  EXPECT_LT(grown, std::int64_t{kRanks} * 96 * 1024) << "a quarter of what was sent";
#endif
}

}  // namespace
}  // namespace ddbench::launch
