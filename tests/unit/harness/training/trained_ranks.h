#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forked_ranks.h"
#include "harness/collective/communicator.h"
#include "harness/training/train.h"

namespace ddbench::ddp {

/// Writes the losses down exactly; calls `at_step` after each step.
class Notes final : public TrainingMonitor {
 public:
  explicit Notes(std::function<void(std::uint32_t)> at_step) : at_step_(std::move(at_step)) {}
  void on_step(std::uint32_t step, double loss) override;
  void on_collective_begin(std::string_view, std::uint64_t sequence) noexcept override { begun = sequence; }
  void on_collective_end(std::uint64_t sequence) noexcept override { ended = sequence; }
  std::string losses;
  std::uint64_t begun = 0;
  std::uint64_t ended = 0;

 private:
  std::function<void(std::uint32_t)> at_step_;
};

/// An mlp of 784-96-64-10 in two buckets.
RunCase case_of(int world, std::int64_t global_batch);

using StepHook = std::function<void(int rank, std::uint32_t step, collective::Communicator& communicator)>;

/// Trains in a process for each rank, over Gloo. "<parameter hash> <bytes sent> <exchanges> <loss of step 0>
/// ..." of each rank (curve_of reads it); spools are left in `directory`.
std::vector<test::RankOutcome> train_ranks(const RunCase& run_case, const std::filesystem::path& directory,
                                           const StepHook& hook = {}, const CheckpointPlan& checkpoints = {});

struct Curve {
  std::string hash;
  double sent_bytes = 0;  ///< CountingCommunicator
  int exchanges = 0;
  std::vector<double> losses;
};
Curve curve_of(const test::RankOutcome& outcome);

/// Mean over ranks, step by step; fails the test when a rank failed or the ranks' parameters differ.
Curve mean_curve(const std::vector<test::RankOutcome>& outcomes);

}  // namespace ddbench::ddp
