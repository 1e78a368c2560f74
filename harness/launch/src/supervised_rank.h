#pragma once

#include <string>
#include <utility>

#include "control_channel.h"
#include "ddbench/store/records.h"
#include "describe.h"
#include "watchdog.h"

namespace ddbench::launch {

/// What the supervisor knows of one rank.
struct SupervisedRank {
  enum class Phase { kStarted, kJoined, kTraining, kDelivered };

  SupervisedRank(int rank, int local_rank, int node, UniqueFd socket) : channel(std::move(socket)) {
    record.rank = rank;
    record.local_rank = local_rank;
    record.node = node;
  }

  std::string name() const { return describe_rank(record.rank, record.node, record.pid); }
  std::string progress() const { return describe_progress(heartbeat.steps_completed); }
  RankView view() const {
    return {record.rank, record.node, record.pid, last_heard, last_progress, heartbeat};
  }

  /// Keeps a heartbeat. True when a step was completed since the last one.
  bool hear(const Heartbeat& beat, SteadyTime now) {
    const bool stepped = beat.steps_completed != heartbeat.steps_completed;
    const bool moved = stepped || beat.collective.sequence != heartbeat.collective.sequence ||
                       beat.collective.inside != heartbeat.collective.inside;
    if (moved) last_progress = now;
    heartbeat = beat;
    record.peak_memory_bytes = beat.peak_memory_bytes;
    return stepped;
  }

  store::RankRecord record;
  ControlChannel channel;
  Phase phase = Phase::kStarted;
  bool alive = true;
  bool said_why = false;  ///< it sent a Failure
  bool killed = false;    ///< by the launcher
  Heartbeat heartbeat;
  SteadyTime last_heard;
  SteadyTime last_progress;
};

}  // namespace ddbench::launch
