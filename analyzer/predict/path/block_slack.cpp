#include "analyzer/predict/path/block_slack.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "analyzer/predict/replay.h"

namespace ddbench::analyzer {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Recorded steps from `first` on as they were replayed.
struct TimedBlock {
  std::size_t first = 0;
  ReplayTrace steps;
  double elapsed_ns = 0;
};

TimedBlock timed_block(const StepRecording& recording, std::size_t first, std::size_t last) {
  ReplaySchedule schedule;
  schedule.steps = last - first;
  const ClusterShape shape{1, static_cast<int>(recording.steps[first].ranks.size())};
  for (std::size_t i = first; i < last; ++i) schedule.recorded.push_back(static_cast<std::uint32_t>(i));
  TimedBlock block{first, {}, 0};
  block.elapsed_ns = replay(recording, shape, schedule, {}, &block.steps).step_ns * static_cast<double>(schedule.steps);
  return block;
}

/// What may be no later, from the block's end to its begin.
class LatestTimes {
 public:
  LatestTimes(const StepRecording& recording, const TimedBlock& block, BlockSlack& result)
      : recording_(recording),
        block_(block),
        result_(result),
        ranks_(block.steps.front().size()),
        main_(ranks_, block.elapsed_ns),
        lane_(ranks_, kNever) {}

  void run() {
    for (std::size_t step = block_.steps.size(); step-- > 0;) run_step(step);
  }

 private:
  void run_step(std::size_t step) {
    const std::vector<TracedRank>& timed = block_.steps[step];
    const std::size_t collectives = recording_.collectives.size();
    ends_.assign(ranks_, std::vector<double>(collectives, kNever));
    std::vector<std::size_t> until(ranks_);
    for (std::size_t r = 0; r < ranks_; ++r) until[r] = timed[r].end_ns.size();
    for (std::size_t c = collectives; c-- > 0;) {
      for (std::size_t r = 0; r < ranks_; ++r) until[r] = events(step, r, until[r], timed[r].issued_at[c]);
      collective(step, c);
    }
    for (std::size_t r = 0; r < ranks_; ++r) events(step, r, until[r], 0);
  }

  /// Events [from, until) of a rank, backwards.
  std::size_t events(std::size_t step, std::size_t r, std::size_t until, std::size_t from) {
    const RankStep& recorded = recording_.steps[block_.first + step].ranks[r];
    for (std::size_t e = until; e-- > from;) {
      const StepEvent& event = recorded.events[e];
      if (event.action == StepAction::kWait) {
        double& end = ends_[r][event.collective];
        end = std::min(end, main_[r]);
      } else if (event.action == StepAction::kWork) {
        Slack& work = result_.steps[step].work[r][e];
        work.slack_ns = main_[r] - block_.steps[step][r].end_ns[e];
        main_[r] -= work.ns;
      }
    }
    return from;
  }

  void collective(std::size_t step, std::size_t c) {
    const RecordedStep& recorded = recording_.steps[block_.first + step];
    const std::vector<TracedRank>& timed = block_.steps[step];
    double last = kNever;
    double transfer = kNever;
    for (std::size_t r = 0; r < ranks_; ++r) {
      const double share = recorded.ranks[r].end_share[c];
      const double end = std::min(ends_[r][c], lane_[r]);
      ends_[r][c] = end;
      if (share < 0) continue;
      last = std::min(last, end - share * recorded.transfer_ns[c]);
      if (share > 0) transfer = std::min(transfer, (end - timed[r].lane_end_ns[c]) / share);
    }
    result_.steps[step].transfers[c].slack_ns = transfer;
    for (std::size_t r = 0; r < ranks_; ++r) {
      const double latest = recorded.ranks[r].end_share[c] < 0 ? std::min(last, ends_[r][c]) : last;
      Slack& delay = result_.steps[step].delays[r][c];
      delay.slack_ns = latest - timed[r].begin_ns[c];
      lane_[r] = latest - delay.ns;
      main_[r] = std::min(main_[r], lane_[r]);
    }
  }

  const StepRecording& recording_;
  const TimedBlock& block_;
  BlockSlack& result_;
  std::size_t ranks_;
  std::vector<double> main_;  ///< each rank's main lane at the event
  std::vector<double> lane_;  ///< each rank's lane at the begin of the collective after the current one
  std::vector<std::vector<double>> ends_;  ///< [rank][collective] of the step
};

/// Follows the path from the end of the block.
class PathWalk {
 public:
  PathWalk(const StepRecording& recording, const TimedBlock& block, BlockSlack& result)
      : recording_(recording), block_(block), result_(result) {}

  void run() {
    step_ = block_.steps.size() - 1;
    rank_ = 0;
    const std::vector<TracedRank>& last = block_.steps[step_];
    const auto end_of = [&](std::size_t r) { return last[r].end_ns.empty() ? 0 : last[r].end_ns.back(); };
    for (std::size_t r = 1; r < last.size(); ++r) rank_ = end_of(r) > end_of(rank_) ? r : rank_;
    event_ = recorded().events.size();
    while (main_lane()) {
    }
  }

 private:
  const TracedRank& timed() const { return block_.steps[step_][rank_]; }
  const RankStep& recorded() const { return recording_.steps[block_.first + step_].ranks[rank_]; }

  /// One event backwards; false at the begin of the block.
  bool main_lane() {
    if (event_ == 0) {
      if (step_ == 0) return false;
      --step_;
      event_ = recorded().events.size();
      return true;
    }
    const StepEvent& event = recorded().events[--event_];
    if (event.action == StepAction::kWork) {
      Slack& work = result_.steps[step_].work[rank_][event_];
      work.path_ns += work.ns;
    } else if (event.action == StepAction::kWait && timed().waited[event_]) {
      return lane(event.collective);
    }
    return true;
  }

  /// From the end of a collective on the rank to where a main lane issued it or one before it; false at the begin of the block.
  bool lane(std::size_t c) {
    for (;;) {
      follow_transfer(c);
      Slack& delay = result_.steps[step_].delays[rank_][c];
      delay.path_ns += delay.ns;
      if (!timed().lane_was_later[c]) {
        event_ = timed().issued_at[c];
        return true;
      }
      if (c-- > 0) continue;
      if (step_-- == 0) return false;
      c = recording_.collectives.size() - 1;
    }
  }

  /// To the rank that came last, unless this one did not wait for it.
  void follow_transfer(std::size_t c) {
    if (recorded().end_share[c] < 0) return;
    const std::vector<TracedRank>& step = block_.steps[step_];
    const double end = timed().lane_end_ns[c];
    std::size_t last = 0;
    for (std::size_t r = 1; r < step.size(); ++r) last = step[r].begin_ns[c] > step[last].begin_ns[c] ? r : last;
    result_.steps[step_].transfers[c].path_ns += end - step[last].begin_ns[c];
    rank_ = last;
  }

  const StepRecording& recording_;
  const TimedBlock& block_;
  BlockSlack& result_;
  std::size_t step_ = 0;
  std::size_t rank_ = 0;
  std::size_t event_ = 0;  ///< events before it are still to be passed
};

BlockSlack lengths_of(const StepRecording& recording, const TimedBlock& block) {
  BlockSlack result;
  result.elapsed_ns = block.elapsed_ns;
  const std::size_t collectives = recording.collectives.size();
  for (std::size_t step = 0; step < block.steps.size(); ++step) {
    const RecordedStep& recorded = recording.steps[block.first + step];
    StepSlack slack;
    for (std::size_t r = 0; r < recorded.ranks.size(); ++r) {
      std::vector<Slack> work;
      for (const double ns : block.steps[step][r].work_ns) work.push_back({ns, 0, 0});
      std::vector<Slack> delays;
      for (std::size_t c = 0; c < collectives; ++c) delays.push_back({recorded.ranks[r].start_delay_ns[c], 0, 0});
      slack.work.push_back(std::move(work));
      slack.delays.push_back(std::move(delays));
    }
    for (std::size_t c = 0; c < collectives; ++c) slack.transfers.push_back({recorded.transfer_ns[c], 0, 0});
    result.steps.push_back(std::move(slack));
  }
  return result;
}

}  // namespace

BlockSlack block_slack(const StepRecording& recording, std::size_t first, std::size_t last) {
  if (first >= last) return {};
  const TimedBlock block = timed_block(recording, first, last);
  BlockSlack result = lengths_of(recording, block);
  LatestTimes(recording, block, result).run();
  PathWalk(recording, block, result).run();
  return result;
}

}  // namespace ddbench::analyzer
