#include "harness/experiment/ingest/live_progress.h"

#include <algorithm>
#include <limits>

#include "core/run_case/program_case.h"
#include "harness/microbench/micro.h"

namespace ddbench::experiment {

ProgressTracker::ProgressTracker(const RunCase& run_case, std::uint32_t first_measured)
    : steps_total_(run_case.ends_by_margin() ? 0 : static_cast<std::uint32_t>(run_case.total_steps())),
      warmup_(first_measured),
      global_batch_(is_micro(run_case) ? 0 : run_case.global_batch()),  // no samples are trained on
      ranks_(static_cast<std::size_t>(run_case.world_size())) {}

LiveProgress ProgressTracker::update(int rank, std::uint32_t steps_done, double loss, std::int64_t now_ns) {
  RankState& state = ranks_.at(static_cast<std::size_t>(rank));
  if (steps_done >= state.steps_done) {
    state.steps_done = steps_done;
    state.loss = loss;
    if (steps_done >= warmup_) {
      if (!state.first) state.first = Mark{now_ns, steps_done};
      if (steps_done > state.last.steps_done) state.last = {now_ns, steps_done};
    }
  }

  LiveProgress progress;
  progress.steps_total = steps_total_;
  progress.steps_done = ranks_.front().steps_done;
  for (const RankState& other : ranks_) {
    progress.steps_done = std::min(progress.steps_done, other.steps_done);
    progress.loss += other.loss / static_cast<double>(ranks_.size());
  }
  if (const double steps_per_s = steps_per_second(); steps_per_s > 0) {
    progress.samples_per_s = steps_per_s * static_cast<double>(global_batch_);
    if (steps_total_ > 0) progress.seconds_left = (steps_total_ - progress.steps_done) / steps_per_s;
  }
  return progress;
}

double ProgressTracker::steps_per_second() const {
  double slowest = std::numeric_limits<double>::infinity();
  for (const RankState& rank : ranks_) {
    if (!rank.first || rank.last.at_ns <= rank.first->at_ns) return 0;
    const double rate = (rank.last.steps_done - rank.first->steps_done) * 1e9 /
                        static_cast<double>(rank.last.at_ns - rank.first->at_ns);
    slowest = std::min(slowest, rate);
  }
  return slowest;
}

}  // namespace ddbench::experiment
