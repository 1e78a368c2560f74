#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "harness/launch/local/local_launch.h"
#include "temporary_directory.h"

namespace ddbench::launch {

class RecordingObserver final : public LaunchObserver {
 public:
  void on_network(const std::string& network, const std::string& note) override {
    network_ = network;
    note_ = note;
  }
  void on_progress(const RankProgress& progress) override { progress_.push_back(progress); }
  void on_tick() override { ++ticks_; }
  bool interrupted() override { return interrupt_after_steps_ > 0 && furthest() >= interrupt_after_steps_; }

  std::uint32_t furthest() const {
    std::uint32_t steps = 0;
    for (const RankProgress& progress : progress_) steps = std::max(steps, progress.step);
    return steps;
  }

  std::string network_;
  std::string note_;
  std::vector<RankProgress> progress_;
  int ticks_ = 0;
  std::uint32_t interrupt_after_steps_ = 0;
};

/// What a test rank wrote down about itself (launch_test_rank.cpp).
struct RankTrace {
  pid_t pid = 0;
  ino_t network_namespace = 0;
  std::string world_size, local_rank, local_world_size, node_rank, master_address, master_port, address,
      nccl_host;
};
RankTrace read_trace(const std::filesystem::path& directory, int rank);

/// The process is there and not only waited for (a zombie counts as gone).
bool lives(pid_t pid);
/// Waits for it.
bool ends_in_time(pid_t pid);
/// Whether any process of this machine that we may look at is in that network namespace.
bool anybody_in(ino_t network_namespace);

/// The children of this process, dead or alive.
std::vector<pid_t> children();
/// Number of open file descriptors.
std::size_t open_files();

/// Launches test ranks in a scenario. After each launch it proves that no child, no process of a rank and no
/// descriptor is left.
class LaunchTest : public ::testing::Test {
 protected:
  LaunchTest();
  LaunchOutcome launch(const std::string& scenario, int culprit, int nodes = 1, int gpus_per_node = 3);

  test::TemporaryDirectory directory_;
  LaunchOptions options_;
  bool runs_program_ = false;  ///< says the case; the test ranks are what they are
  RecordingObserver observer_;
};

}  // namespace ddbench::launch
