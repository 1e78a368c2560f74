#include "harness/launch/worker/step_windows.h"

#include <cmath>
#include <utility>

#include "harness/training/step/step_clock.h"

namespace ddbench::launch {

StepWindows::StepWindows(std::uint32_t first_measured) : first_measured_(first_measured) {
  closed_.reserve(StepTimes::kMostWindows);
}

void StepWindows::add(std::uint32_t step, std::int64_t duration_ns) {
  if (!is_measured(step)) return;
  ++open_.steps;
  open_.time_ns += duration_ns;
  const bool next_ends_pair = ddp::is_in_pair(step, first_measured_) && ddp::is_in_pair(step + 1, first_measured_);
  if (next_ends_pair) {
    first_of_pair_ns_ = duration_ns;
    return;
  }
  if (ddp::is_in_pair(step, first_measured_)) add_pair(step, duration_ns);
  if (open_.time_ns < kShortest_ns || closed_.size() == StepTimes::kMostWindows) return;
  closed_.push_back(std::exchange(open_, {}));
}

void StepWindows::add_pair(std::uint32_t step, std::int64_t duration_ns) {
  if (first_of_pair_ns_ <= 0 || duration_ns <= 0) return;
  const double log_ratio = std::log(static_cast<double>(duration_ns) / static_cast<double>(first_of_pair_ns_));
  open_.log_ratio += ddp::is_probed(step, first_measured_) ? log_ratio : -log_ratio;
  ++open_.pairs;
  first_of_pair_ns_ = 0;
}

std::vector<StepWindow> StepWindows::take() {
  std::vector<StepWindow> taken;
  taken.reserve(StepTimes::kMostWindows);
  taken.swap(closed_);
  return taken;
}

}  // namespace ddbench::launch
