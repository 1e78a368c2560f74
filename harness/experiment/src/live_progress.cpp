#include "ddbench/experiment/live_progress.h"

#include <algorithm>

#include "ddbench/micro/micro.h"

namespace ddbench::experiment {
namespace {

constexpr std::int64_t kRateWindow_ns = 3'000'000'000;

}  // namespace

ProgressTracker::ProgressTracker(const RunCase& run_case)
    : steps_total_(static_cast<std::uint32_t>(run_case.total_steps())),
      global_batch_(micro::is_micro(run_case) ? 0 : run_case.global_batch()),  // no samples are trained on
      ranks_(static_cast<std::size_t>(run_case.world_size())) {}

LiveProgress ProgressTracker::update(int rank, std::uint32_t steps_done, double loss, std::int64_t now_ns) {
  RankState& state = ranks_.at(static_cast<std::size_t>(rank));
  if (steps_done >= state.steps_done) state = {steps_done, loss};

  LiveProgress progress;
  progress.steps_total = steps_total_;
  progress.steps_done = steps_total_;
  for (const RankState& other : ranks_) {
    progress.steps_done = std::min(progress.steps_done, other.steps_done);
    progress.loss += other.loss / static_cast<double>(ranks_.size());
  }
  if (marks_.empty() || marks_.back().steps_done < progress.steps_done) marks_.push_back({now_ns, progress.steps_done});
  // The oldest mark inside the window stays, and at least two marks, so that slow steps still have a rate.
  while (marks_.size() > 2 && marks_[1].at_ns < now_ns - kRateWindow_ns) marks_.erase(marks_.begin());

  const Mark& first = marks_.front();
  const Mark& last = marks_.back();
  if (last.at_ns > first.at_ns) {
    const double steps_per_s = (last.steps_done - first.steps_done) * 1e9 / static_cast<double>(last.at_ns - first.at_ns);
    progress.samples_per_s = steps_per_s * static_cast<double>(global_batch_);
    progress.seconds_left = (steps_total_ - progress.steps_done) / steps_per_s;
  }
  return progress;
}

}  // namespace ddbench::experiment
