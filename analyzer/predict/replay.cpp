#include "analyzer/predict/replay.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace ddbench::analyzer {
namespace {

/// The progress of a rank.
struct RankState {
  double now_ns = 0;
  double lane_free_ns = 0;
  double waited_ns = 0;
  const RankStep* step = nullptr;
  std::size_t event = 0;       ///< of the step
  std::uint32_t ended = 0;     ///< collectives of the step before this one have ended before now
};

class Replay {
 public:
  Replay(const StepRecording& recording, const ClusterShape& shape, const ReplaySchedule& schedule,
         std::span<const double> transfer_ns, ReplayTrace* trace)
      : recording_(recording),
        schedule_(schedule),
        transfer_ns_(transfer_ns),
        trace_(trace),
        per_node_(static_cast<std::size_t>(shape.gpus_per_node)),
        ranks_(static_cast<std::size_t>(shape.nodes) * per_node_),
        count_(static_cast<std::uint32_t>(recording.collectives.size())),
        begins_(ranks_.size() * count_),
        ends_(ranks_.size() * count_) {}

  ReplayResult run() {
    for (std::size_t step = 0; step < schedule_.steps; ++step) run_step(step);
    const auto steps = static_cast<double>(std::max<std::size_t>(schedule_.steps, 1));
    double last = 0;
    double waited = 0;
    for (const RankState& rank : ranks_) {
      last = std::max(last, rank.now_ns);
      waited += rank.waited_ns;
    }
    result_.step_ns = last / steps;
    result_.waited_ns = waited / steps / static_cast<double>(ranks_.size());
    result_.lane_ns /= steps;
    result_.arrival_ns /= steps;
    return result_;
  }

 private:
  const RecordedStep& recorded(std::size_t node, std::size_t step) const {
    return recording_.steps[schedule_.recorded[node * schedule_.steps + step]];
  }

  void run_step(std::size_t step) {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      const RecordedStep& source = recorded(r / per_node_, step);
      ranks_[r].step = &source.ranks[r % source.ranks.size()];
      ranks_[r].event = 0;
      ranks_[r].ended = 0;
    }
    if (trace_ != nullptr) begin_trace();
    const RecordedStep& first = recorded(0, step);
    for (std::uint32_t c = 0; c < count_; ++c)
      collective(c, transfer_ns_.empty() ? first.transfer_ns[c] : transfer_ns_[c]);
    for (std::size_t r = 0; r < ranks_.size(); ++r) advance(r, count_);
  }

  void begin_trace() {
    std::vector<TracedRank>& step = trace_->emplace_back(ranks_.size());
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      const std::size_t events = ranks_[r].step->events.size();
      step[r] = {std::vector<double>(events), std::vector<double>(events), std::vector<char>(events),
                 std::vector<std::size_t>(count_, events), std::vector<double>(count_), std::vector<double>(count_),
                 std::vector<char>(count_)};
    }
  }
  TracedRank& traced(std::size_t r) { return trace_->back()[r]; }

  /// All ranks up to where they issue the collective, and when it ends.
  void collective(std::uint32_t c, double transfer_ns) {
    double first = 0;
    double last = 0;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      advance(r, c);
      RankState& rank = ranks_[r];
      const double begin = std::max(rank.now_ns, rank.lane_free_ns) + rank.step->start_delay_ns[c];
      begins_[r * count_ + c] = begin;
      if (trace_ != nullptr) {
        traced(r).issued_at[c] = rank.event;
        traced(r).begin_ns[c] = begin;
        traced(r).lane_was_later[c] = rank.lane_free_ns > rank.now_ns;
      }
      first = r == 0 ? begin : std::min(first, begin);
      last = std::max(last, begin);
    }
    result_.lane_ns += transfer_ns;
    result_.arrival_ns += last - first;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      const double share = ranks_[r].step->end_share[c];
      const double begin = begins_[r * count_ + c];
      const double end = share < 0 ? begin : last + (transfer_ns_.empty() ? share : 1) * transfer_ns;
      ends_[r * count_ + c] = ranks_[r].lane_free_ns = std::max(begin, end);
      if (trace_ != nullptr) traced(r).lane_end_ns[c] = ranks_[r].lane_free_ns;
    }
  }

  /// Does the rank's events up to the issue of collective `c`, which is passed; to the step's end where there is none.
  void advance(std::size_t r, std::uint32_t c) {
    RankState& rank = ranks_[r];
    const std::vector<StepEvent>& events = rank.step->events;
    for (; rank.event < events.size(); ++rank.event) {
      const StepEvent& event = events[rank.event];
      const double before = rank.now_ns;
      switch (event.action) {
        case StepAction::kWork: work(r, event, c); break;
        case StepAction::kWait:
          if (const double end = ends_[r * count_ + event.collective]; event.collective < c && end > rank.now_ns) {
            rank.waited_ns += end - rank.now_ns;
            rank.now_ns = end;
          }
          break;
        case StepAction::kIssue:
          if (event.collective == c) {
            if (trace_ != nullptr) traced(r).end_ns[rank.event] = rank.now_ns;
            ++rank.event;
            return;
          }
          break;
      }
      if (trace_ != nullptr) trace_event(r, event, before);
    }
  }

  void trace_event(std::size_t r, const StepEvent& event, double before) {
    const RankState& rank = ranks_[r];
    TracedRank& own = traced(r);
    own.end_ns[rank.event] = rank.now_ns;
    if (event.action == StepAction::kWork) own.work_ns[rank.event] = rank.now_ns - before;
    if (event.action == StepAction::kWait) own.waited[rank.event] = rank.now_ns > before;
  }

  /// Collectives below `known` have ends.
  void work(std::size_t r, const StepEvent& event, std::uint32_t known) {
    RankState& rank = ranks_[r];
    double left = event.ns;
    const bool slowed = recording_.slowdown > 0 && (event.work == WorkKind::kPass || event.work == WorkKind::kOptimizer);
    while (slowed && left > 0) {
      while (rank.ended < known && ends_[r * count_ + rank.ended] <= rank.now_ns) ++rank.ended;
      if (rank.ended >= known) break;
      const double begin = begins_[r * count_ + rank.ended];
      const double end = ends_[r * count_ + rank.ended];
      if (rank.now_ns < begin) {
        const double alone = std::min(left, begin - rank.now_ns);
        rank.now_ns += alone;
        left -= alone;
        continue;
      }
      const double beside = std::min(left * (1 + recording_.slowdown), end - rank.now_ns);
      rank.now_ns += beside;
      left -= beside / (1 + recording_.slowdown);
      if (left < 1e-6) left = 0;
    }
    rank.now_ns += left;
  }

  const StepRecording& recording_;
  const ReplaySchedule& schedule_;
  std::span<const double> transfer_ns_;
  ReplayTrace* trace_;
  std::size_t per_node_;
  std::vector<RankState> ranks_;
  std::uint32_t count_;         ///< collectives of a step
  std::vector<double> begins_;  ///< [rank * count_ + collective]
  std::vector<double> ends_;    ///< the same
  ReplayResult result_;
};

}  // namespace

StepBlocks blocks_of(const StepRecording& recording) {
  StepBlocks blocks;
  for (std::size_t i = 0; i < recording.steps.size(); ++i) {
    const bool follows = i > 0 && recording.steps[i].step == recording.steps[i - 1].step + 1;
    if (follows) {
      blocks.back().second = i + 1;
    } else {
      blocks.emplace_back(i, i + 1);
    }
  }
  return blocks;
}

StepBlocks blocks_to_draw(const StepRecording& recording) {
  constexpr std::size_t kLongest = 8;
  constexpr std::size_t kFewest = 8;  // blocks
  const std::size_t longest = std::clamp<std::size_t>(recording.steps.size() / kFewest, 1, kLongest);
  StepBlocks blocks;
  for (const auto& [first, last] : blocks_of(recording)) {
    const std::size_t length = last - first;
    const std::size_t parts = (length + longest - 1) / longest;
    for (std::size_t part = 0; part < parts; ++part)
      blocks.emplace_back(first + length * part / parts, first + length * (part + 1) / parts);
  }
  return blocks;
}

ReplaySchedule draw_schedule(std::span<const std::pair<std::size_t, std::size_t>> blocks, std::size_t nodes,
                             std::size_t steps, std::uint64_t seed, double each) {
  ReplaySchedule schedule;
  schedule.steps = steps;
  schedule.recorded.reserve(nodes * steps);
  std::mt19937_64 random(seed);
  const auto drawn = [&]() -> std::size_t {
    // Modulo is even enough: there are far fewer blocks than 2^64.
    if (each <= 1) return random() % blocks.size();
    const double slowest = std::pow(std::uniform_real_distribution<>()(random), 1 / each);
    return std::min(blocks.size() - 1, static_cast<std::size_t>(slowest * static_cast<double>(blocks.size())));
  };
  for (std::size_t node = 0; node < nodes; ++node) {
    const std::size_t full = (node + 1) * steps;
    bool is_first = true;
    while (schedule.recorded.size() < full) {
      const auto& [first, last] = blocks[drawn()];
      // Nodes that all began a block at its begin would be in step for ever after.
      const std::size_t begin = is_first ? first + random() % (last - first) : first;
      for (std::size_t i = begin; i < last && schedule.recorded.size() < full; ++i)
        schedule.recorded.push_back(static_cast<std::uint32_t>(i));
      is_first = false;
    }
  }
  return schedule;
}

StepBlocks steps_by_work(const StepRecording& recording, const StepBlocks& blocks) {
  const auto work_ns = [&](std::size_t step) {
    double slowest = 0;
    for (const RankStep& rank : recording.steps[step].ranks) {
      double own = 0;
      for (const StepEvent& event : rank.events) own += event.ns;
      slowest = std::max(slowest, own);
    }
    return slowest;
  };
  std::vector<std::pair<double, std::size_t>> keyed;
  for (const auto& [first, last] : blocks) {
    for (std::size_t step = first; step < last; ++step) keyed.emplace_back(work_ns(step), step);
  }
  std::sort(keyed.begin(), keyed.end());
  StepBlocks steps;
  for (const auto& [ignored, step] : keyed) steps.emplace_back(step, step + 1);
  return steps;
}

ReplayResult replay(const StepRecording& recording, const ClusterShape& shape, const ReplaySchedule& schedule,
                    std::span<const double> transfer_ns, ReplayTrace* trace) {
  return Replay(recording, shape, schedule, transfer_ns, trace).run();
}

ReplayResult replay_in_order(const StepRecording& recording, std::span<const double> transfer_ns) {
  ReplaySchedule schedule;
  schedule.steps = recording.steps.size();
  for (std::size_t i = 0; i < schedule.steps; ++i) schedule.recorded.push_back(static_cast<std::uint32_t>(i));
  const ClusterShape recorded_ranks{1, static_cast<int>(recording.steps.front().ranks.size())};
  return replay(recording, recorded_ranks, schedule, transfer_ns);
}

double replay_over_recorded(const StepRecording& recording, std::span<const double> transfer_ns) {
  return recording.step_ns > 0 ? replay_in_order(recording, transfer_ns).step_ns / recording.step_ns : 1;
}

}  // namespace ddbench::analyzer
