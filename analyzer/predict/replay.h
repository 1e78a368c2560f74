#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/predict/step_recording.h"

namespace ddbench::analyzer {

/// Which recorded step each node does, step after step. Ranks of a node do the same one.
struct ReplaySchedule {
  std::size_t steps = 0;
  std::vector<std::uint32_t> recorded;  ///< [node * steps + step]: an index into StepRecording::steps
};

/// [first, last) of StepRecording::steps
using StepBlocks = std::vector<std::pair<std::size_t, std::size_t>>;

/// Draws blocks of steps that were recorded one after the other, for each node by itself, so that the slowest
/// of many nodes is realistically slow. The same seed gives the same schedule. The first block of a node begins at any of
/// its steps, so that every step is drawn equally often. If `each` is above 1, every node represents that many: it takes
/// the slowest of that many blocks drawn, and `blocks` must be sorted from fast to slow.
ReplaySchedule draw_schedule(std::span<const std::pair<std::size_t, std::size_t>> blocks, std::size_t nodes,
                             std::size_t steps, std::uint64_t seed, double each = 1);

/// The steps of `blocks`, each as a block of its own, from fast to slow by the own work of the slowest rank. Nodes that
/// stand for many draw single steps: in each step another one of them is the slowest.
StepBlocks steps_by_work(const StepRecording& recording, const StepBlocks& blocks);

/// Blocks of a recording: steps that follow each other.
StepBlocks blocks_of(const StepRecording& recording);

/// The same, cut into blocks of about equal length: of 8 steps at most, or of an eighth of all steps where that is less.
/// They are long enough to keep steps that resemble each other together, and enough for nodes to draw different ones.
StepBlocks blocks_to_draw(const StepRecording& recording);

struct ReplayResult {
  double step_ns = 0;     ///< elapsed time of all ranks / steps
  double waited_ns = 0;   ///< a step: how long main lanes waited for collectives, mean over ranks
  double lane_ns = 0;     ///< a step: time in which a collective moved data
  double arrival_ns = 0;  ///< a step: from the first rank's arrival to the last one's, sum over collectives
};

/// The times of a rank's events in a step of a replay, from the replay's begin on.
struct TracedRank {
  std::vector<double> end_ns;        ///< [event]
  std::vector<double> work_ns;       ///< [event]: time of work, including its slowdown; 0 for others
  std::vector<char> waited;          ///< [event]: a wait that had to wait
  std::vector<std::size_t> issued_at;  ///< [collective]: number of events up to its issue; all if none
  std::vector<double> begin_ns;      ///< [collective]
  std::vector<double> lane_end_ns;   ///< [collective]
  std::vector<char> lane_was_later;  ///< [collective]: its data was ready before the lane was free
};
/// [step][rank]
using ReplayTrace = std::vector<std::vector<TracedRank>>;

/// Discrete-event replay of a recording on `shape`. Rank r repeats rank r % ranks of the recording. A
/// collective begins on a rank when its data is ready there and the rank's lane is free, and its recorded
/// start delay later; the transfer starts when the last rank has begun, takes `transfer_ns[collective]`, and
/// then ends on all ranks; if transfer_ns is empty, it takes the recorded time of the first node's step, and
/// it ends on each rank at its recorded share of that. A rank with a share below 0 does not wait in either
/// case. Compute is slowed while its rank is in a collective. Ranks run ahead of each other as far as their
/// collectives let them; the first step counts from 0. `trace`, if given, receives all times.
ReplayResult replay(const StepRecording& recording, const ClusterShape& shape, const ReplaySchedule& schedule,
                    std::span<const double> transfer_ns, ReplayTrace* trace = nullptr);

/// The recorded ranks do all recorded steps, in order.
ReplayResult replay_in_order(const StepRecording& recording, std::span<const double> transfer_ns);

/// The step time of that replay over the run's step time: 1 is exact, and where the step time is not known.
double replay_over_recorded(const StepRecording& recording, std::span<const double> transfer_ns = {});

}  // namespace ddbench::analyzer
