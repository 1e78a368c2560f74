#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>

#include "harness/training/step/loss_target.h"
#include "harness/training/step/rank_sum.h"
#include "probes/recorder/recorder.h"

namespace ddbench::ddp {

/// Watches for the target loss, in the same way on every rank. The loss is averaged over ranks together with
/// the gradients: a value passed to submit() is available after the communication thread's next wait(). Rank
/// 0 records the scalar "smoothed_loss". Does nothing for a case without a target.
class TargetWatch {
 public:
  TargetWatch(const RunCase& run_case, int rank, device::Device& device, CommunicationThread& communication,
              host::Recorder& recorder)
      : target_(run_case),
        ranks_(run_case.world_size()),
        earliest_end_(run_case.first_measured_step(0)),
        rank_(rank),
        loss_(device, communication),
        recorder_(recorder) {}

  void submit(std::uint32_t step, double loss) {
    if (!target_.wanted()) return;
    loss_.submit(static_cast<float>(loss), {.step = step});
  }

  /// Call after the gradients of the step. Training ends after the warm-up at the earliest: a run without a measured step has
  /// no results. A run that continues another one ends where that one would have ended.
  bool ends_training(std::uint32_t step) {
    if (!target_.wanted()) return false;
    const double smoothed = target_.add(static_cast<double>(loss_.get()) / ranks_);
    if (rank_ == 0 && std::isfinite(smoothed)) recorder_.record_scalar("smoothed_loss", step, smoothed);
    return target_.reached() && step >= earliest_end_;
  }

  /// What a checkpoint must keep, as text; and going on from it.
  std::string recent() const {
    std::string text;
    for (const double loss : target_.recent()) text += fmt::format("{:a} ", loss);
    return text;
  }
  void restore(const std::string& recent) {
    std::deque<double> losses;
    std::istringstream text(recent);
    for (std::string loss; text >> loss;) losses.push_back(std::strtod(loss.c_str(), nullptr));
    target_.restore(std::move(losses));
  }

 private:
  LossTarget target_;
  const int ranks_;
  const std::uint32_t earliest_end_;
  const int rank_;
  RankSum loss_;
  host::Recorder& recorder_;
};

}  // namespace ddbench::ddp
