#pragma once

#include <cstdint>
#include <optional>

#include "core/facts/facts.h"
#include "core/run_case/run_case.h"
#include "harness/launch/steps/last_step.h"
#include "harness/launch/steps/stopping_rule.h"
#include "harness/launch/supervisor/supervised_ranks.h"

namespace ddbench::launch {

/// The agreement of all ranks on a last step: of a run that ends by its margin or its maximum time, and of one that a scheduler
/// ends before its time, since a checkpoint needs all ranks after the same step. The caller posts what these functions return.
class EndOfSteps {
 public:
  explicit EndOfSteps(const RunCase& run_case);

  /// Whether the run ends by its margin, so that rank 0 reports its step times.
  bool by_margin() const noexcept { return stopping_rule_.has_value(); }
  /// Step times of rank 0, of a run that ends by its margin.
  void add(const StepTimes& times);
  /// Asks for the horizon of every rank once when enough is measured or the time is up; otherwise nothing. `times`: as last added.
  std::optional<Hold> decide(const StepTimes& times);
  /// Asks every rank to end with the step that it is in. A last step by margin that is named later does not count.
  Hold preempt();
  /// A rank's horizon. Returns the last step once all have answered.
  std::optional<LastStep> add(int rank, const Holding& holding);

  /// A rank reached the target loss, and so will all have in the same step.
  void end_by_target() noexcept { by_target_ = true; }

  /// The step that all ranks agreed on; nothing while they have not.
  std::optional<std::uint32_t> last_step() const noexcept { return agreement_.last_step(); }
  /// Whether a run that was preempted had nothing left to do: it had done all of its steps, or reached its target.
  bool was_all() const;
  /// Facts of a run that is done and ends by its margin: what ended it, its steps, and waits for the launcher.
  void describe(const SupervisedRanks& ranks, Facts& facts) const;

 private:
  const std::int64_t total_steps_;
  LastStepAgreement agreement_;
  std::optional<StoppingRule> stopping_rule_;
  std::optional<StopReason> stop_reason_;  ///< set once the rule has decided
  std::optional<std::uint32_t> last_by_margin_;
  bool preempted_ = false;
  bool by_target_ = false;
};

}  // namespace ddbench::launch
