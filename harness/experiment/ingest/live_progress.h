#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/run_case/run_case.h"

namespace ddbench::experiment {

/// Where a run stands. The slowest rank decides, as for the step time.
struct LiveProgress {
  std::uint32_t steps_done = 0;  ///< warm-up included
  std::uint32_t steps_total = 0;  ///< 0: known at the end
  /// Samples of the measured steps so far over the time they took, as the final rate; 0 until it is known.
  double samples_per_s = 0;
  double loss = 0;           ///< mean over ranks of the last values that they reported
  double seconds_left = 0;   ///< at that rate; 0 while it is unknown
  /// For programs, whose samples are not counted during the run (read_program_progress).
  double steps_per_s = 0;          ///< 0 until it is known
  double communication_share = 0;  ///< of the time since the first step
};

/// How the run goes, from what ranks report at the ends of their steps.
struct LiveStatus {
  std::uint64_t steps = 0;                    ///< fewest of all ranks
  std::optional<double> steps_per_s;          ///< over the last seconds
  std::optional<double> communication_share;  ///< of the time in which a rank is in a collective, hidden or not; mean over ranks
  std::string verdict;                        ///< analyzer::LiveVerdict; empty while no rank is named
  bool is_new = false;                        ///< the verdict has changed since the last time
};

/// Computes LiveProgress from the reports of the ranks, which arrive at different times.
class ProgressTracker {
 public:
  /// `first_measured`: step; those before are the warm-up.
  ProgressTracker(const RunCase& run_case, std::uint32_t first_measured);
  /// `now_ns`: now_ns() at the report. Reports of a rank that go back are ignored.
  LiveProgress update(int rank, std::uint32_t steps_done, double loss, std::int64_t now_ns);

 private:
  struct Mark {
    std::int64_t at_ns = 0;
    std::uint32_t steps_done = 0;
  };
  struct RankState {
    std::uint32_t steps_done = 0;
    double loss = 0;
    std::optional<Mark> first;  ///< its first report with the warm-up done
    Mark last;                  ///< and its last one
  };
  /// Of the slowest rank, each by its own reports: reports of different ranks are of different moments. 0 until each
  /// rank has reported twice after the warm-up.
  double steps_per_second() const;

  std::uint32_t steps_total_;
  std::uint32_t warmup_;
  std::int64_t global_batch_;
  std::vector<RankState> ranks_;
};

}  // namespace ddbench::experiment
