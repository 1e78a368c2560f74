#pragma once

#include <cstdint>
#include <vector>

#include "harness/launch/control/messages.h"

namespace ddbench::launch {

/// Gathers the times of a rank's measured steps, one after the other, into windows that are long enough to be sent
/// whatever a step takes. A pair of steps with the probes on and off is never divided. Allocates nothing after its
/// construction but in take().
class StepWindows {
 public:
  static constexpr std::int64_t kShortest_ns = 10'000'000;

  /// The steps from `first_measured` on are the measured ones.
  explicit StepWindows(std::uint32_t first_measured);

  bool is_measured(std::uint32_t step) const noexcept { return step >= first_measured_; }
  /// Call after each step. If the windows are not taken, the last one grows.
  void add(std::uint32_t step, std::int64_t duration_ns);
  /// The windows that are closed, in order, StepTimes::kMostWindows at most.
  std::vector<StepWindow> take();

 private:
  void add_pair(std::uint32_t step, std::int64_t duration_ns);

  const std::uint32_t first_measured_;
  StepWindow open_;
  std::int64_t first_of_pair_ns_ = 0;
  std::vector<StepWindow> closed_;
};

}  // namespace ddbench::launch
