#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/launch/control/messages.h"

namespace ddbench::launch {

using SteadyTime = std::chrono::steady_clock::time_point;

/// What the watchdog knows of a rank that trains.
struct RankView {
  int rank = 0;
  int node = 0;
  std::int64_t pid = 0;
  SteadyTime last_heard;
  SteadyTime last_progress;  ///< when its step or its collective last changed, or a piece of long work was done
  Heartbeat heartbeat;       ///< the last one
};

/// A rank whose heartbeats (5/s) have been missing this long, in a run that stands still, counts as silent:
/// stopped, or starved of its core. Two seconds, less under a tight limit.
std::chrono::milliseconds silence(std::chrono::milliseconds limit);

/// When the last of all ranks made progress.
SteadyTime last_progress(const std::vector<RankView>& ranks);

/// For whom the others wait: ranks that have been silent for `limit` (in a run that stands still for so long, silence() is enough), else those that
/// have not entered the collective in which others have been for `limit`. Nothing while that is not so. Pure.
std::optional<std::string> who_is_awaited(const std::vector<RankView>& ranks, std::chrono::milliseconds limit,
                                          SteadyTime now);

/// Why a run does not go on, or nothing while it does. A run stands still when no rank has made progress
/// for `limit`, or when one rank has been silent for that long. The reason names the ranks at
/// fault, and the long work that they are at: silent ones, else those that have not entered the collective in which the others
/// wait. Pure: a function of the views and the time.
std::optional<std::string> why_stalled(const std::vector<RankView>& ranks, std::chrono::milliseconds limit,
                                       SteadyTime now);

/// For a person who asks (SIGUSR1): what why_stalled says of a limit of two seconds, then for each rank the collective that
/// it is in or was in last, one line a rank, at most 64.
std::string where_ranks_are(const std::vector<RankView>& ranks, SteadyTime now);

}  // namespace ddbench::launch
