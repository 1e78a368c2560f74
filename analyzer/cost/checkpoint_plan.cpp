#include <fmt/format.h>

#include <cmath>

#include "analyzer/cost/cost.h"
#include "core/error.h"

namespace ddbench::analyzer {
namespace {

bool sound(double value) {
  return std::isfinite(value) && value >= 0;
}

}  // namespace

CheckpointPlan plan_checkpoints(const Interruptions& interruptions) {
  const double checkpoint_s = interruptions.checkpoint_s;
  if (!sound(interruptions.mean_hours_between) || !sound(checkpoint_s) || !sound(interruptions.restart_s)) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format(
            "interruptions every {} h, checkpoints of {} s and restarts of {} s cannot be planned for: none "
            "may be below 0",
            interruptions.mean_hours_between, checkpoint_s, interruptions.restart_s));
  }
  if (interruptions.mean_hours_between == 0) return {};
  if (checkpoint_s == 0) {
    throw Error(ErrorCode::kBadInput, "a checkpoint that takes no time makes no sense: give --checkpoint-s");
  }
  const double mean_s = interruptions.mean_hours_between * kSecondsAnHour;
  CheckpointPlan plan;
  if (checkpoint_s < 2 * mean_s) {
    const double ratio = checkpoint_s / (2 * mean_s);
    plan.interval_s =
        std::sqrt(2 * checkpoint_s * mean_s) * (1 + std::sqrt(ratio) / 3 + ratio / 9) - checkpoint_s;
  } else {
    plan.interval_s = mean_s;
  }
  plan.time_factor = mean_s / plan.interval_s * std::exp(interruptions.restart_s / mean_s) *
                     std::expm1((plan.interval_s + checkpoint_s) / mean_s);
  return plan;
}

}  // namespace ddbench::analyzer
