#pragma once

#include <cstdint>
#include <vector>

#include "ddbench/record/run_case.h"

namespace ddbench::experiment {

/// Where a run stands. The slowest rank decides, as for the step time.
struct LiveProgress {
  std::uint32_t steps_done = 0;  ///< warm-up included
  std::uint32_t steps_total = 0;
  double samples_per_s = 0;      ///< over the last seconds; 0 until two steps lie apart in time
  double loss = 0;               ///< mean over ranks of what each told last
  double seconds_left = 0;       ///< at the present rate; 0 while that is unknown
};

/// Makes LiveProgress out of what the ranks tell, each at its own time.
class ProgressTracker {
 public:
  explicit ProgressTracker(const RunCase& run_case);
  /// `now_ns`: now_ns() at the report. Reports of a rank that go back are ignored.
  LiveProgress update(int rank, std::uint32_t steps_done, double loss, std::int64_t now_ns);

 private:
  struct RankState {
    std::uint32_t steps_done = 0;
    double loss = 0;
  };
  struct Mark {
    std::int64_t at_ns = 0;
    std::uint32_t steps_done = 0;
  };
  std::uint32_t steps_total_;
  std::int64_t global_batch_;
  std::vector<RankState> ranks_;
  std::vector<Mark> marks_;  ///< of the last seconds, oldest first
};

}  // namespace ddbench::experiment
