#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/measured.h"
#include "harness/launch/control/messages.h"

namespace ddbench::launch {

/// The measured steps of a run so far, as one rank reports them. Memory is bounded, however long the run: when it is
/// full, every two neighbouring windows become one, and of those to come too.
class StepSeries {
 public:
  static constexpr std::size_t kMostWindows = 4096;

  void add(const StepWindow& window);

  std::uint64_t steps() const noexcept { return steps_; }
  std::int64_t time_ns() const noexcept { return time_ns_; }

  /// Half of the width of the 95% interval of the step time (analyzer::mean_of_steps), divided by it. Missing as that
  /// interval is.
  Measured<double> half_width() const;
  /// Half of the width of the 95% interval of the probes' cost per step, as a share of the step. Missing as
  /// analyzer::signed_rank_estimate is.
  Measured<double> probe_half_width() const;

 private:
  std::vector<StepWindow> windows_;  // each of stride_ that were added
  StepWindow open_;
  std::uint64_t in_open_ = 0;
  std::uint64_t stride_ = 1;
  std::uint64_t steps_ = 0;
  std::int64_t time_ns_ = 0;
};

}  // namespace ddbench::launch
