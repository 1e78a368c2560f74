#pragma once

#include "core/run_case/run_case.h"
#include "harness/training/checkpoint/checkpoint.h"
#include "harness/training/optimizer/loss_scale.h"
#include "harness/training/step/target_watch.h"
#include "harness/training/step/training_monitor.h"
#include "harness/training/strategy/strategy.h"
#include "probes/recorder/recorder.h"

namespace ddbench::ddp {

/// Writes this rank's part of checkpoints, and reads it back. What a checkpoint costs is a copy span
/// "checkpoint" (this rank's file) and a barrier, and the scalar "checkpoint_seconds". `monitor` receives each piece that is
/// read or written: a file may take minutes.
class Checkpointer {
 public:
  Checkpointer(const RunCase& run_case, CheckpointPlan plan, int rank, Strategy& strategy,
               Optimizer& optimizer, TargetWatch& target, LossScale& loss_scale,
               CommunicationThread& communication, host::Recorder& recorder, workload::Probe& probe,
               device::Device& device, TrainingMonitor& monitor);

  /// Fills parameters, the optimizer's state, what the target needs and the loss scale from plan.resume_from,
  /// where there is one. Returns the steps that are done. Throws Error{kBadInput} for a file that is not good
  /// or does not fit.
  std::uint32_t restore();
  /// After a step: writes a checkpoint when one is due, or if `last`, for the point at which training stops.
  /// All ranks must call it with the same arguments. Throws Error{kEnvironment} when it cannot be written.
  void after_step(std::uint32_t step, bool last);

 private:
  bool writes_state() const noexcept { return rank_ == 0 || !strategy_.updates_everything(); }
  int state_rank() const noexcept { return strategy_.updates_everything() ? 0 : rank_; }
  std::vector<NamedTensor> parameters() const;
  void write(std::uint32_t steps_done, ReportedWork& work);
  std::vector<std::vector<float>> gather_values();
  void publish(std::uint32_t steps_done) const;
  void barrier();

  const RunCase& run_case_;
  const CheckpointPlan plan_;
  const int rank_;
  Strategy& strategy_;
  Optimizer& optimizer_;
  TargetWatch& target_;
  LossScale& loss_scale_;
  CommunicationThread& communication_;
  host::Recorder& recorder_;
  workload::Probe& probe_;
  device::Device& device_;
  TrainingMonitor& monitor_;
  const std::uint32_t name_;
};

}  // namespace ddbench::ddp
