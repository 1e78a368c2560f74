#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/run_case/records.h"
#include "harness/launch/control/control_channel.h"
#include "harness/launch/control/rank_wording.h"
#include "harness/launch/machine/machine_counters.h"
#include "harness/launch/supervisor/watchdog.h"

namespace ddbench::launch {

/// What the supervisor knows of one rank.
struct SupervisedRank {
  enum class Phase { kStarted, kJoined, kTraining, kDelivered };

  /// An empty socket: the rank will connect itself.
  SupervisedRank(int rank, int local_rank, int node, UniqueFd socket) {
    record.rank = rank;
    record.local_rank = local_rank;
    record.node = node;
    if (socket) channel = std::make_unique<ControlChannel>(std::move(socket));
  }

  /// Whether something may still be read from it.
  bool connected() const { return channel && !channel->closed(); }
  /// Whoever is not connected hears nothing, and misses nothing that it could act on.
  void post(const Message& message) {
    if (channel) channel->post(message);
  }

  std::string name() const { return describe_rank(record.rank, record.node, record.pid); }
  std::string progress() const { return describe_progress(heartbeat.steps_completed); }
  RankView view() const {
    return {record.rank, record.node, record.pid, last_heard, last_progress, heartbeat};
  }

  /// Keeps a heartbeat. True when a step was completed since the last one.
  bool take(const Heartbeat& beat, SteadyTime now) {
    const bool stepped = beat.steps_completed != heartbeat.steps_completed;
    const bool moved = stepped || beat.collective.sequence != heartbeat.collective.sequence ||
                       beat.collective.inside != heartbeat.collective.inside || beat.pieces != heartbeat.pieces;
    if (moved) last_progress = now;
    heartbeat = beat;
    record.peak_memory_bytes = beat.peak_memory_bytes;
    return stepped;
  }

  store::RankRecord record;
  std::unique_ptr<ControlChannel> channel;
  Hello hello;
  Inventory inventory;                   ///< of ranks elsewhere, one a node
  std::optional<MachineCounts> counted;  ///< likewise, of ranks that said how they ended
  Phase phase = Phase::kStarted;
  bool alive = true;
  bool said_why = false;                    ///< it sent a Failure
  bool killed = false;                      ///< by the launcher
  int watched_fd = -1;                      ///< of its channel, as the launcher's epoll has it
  bool watched_for_sending = false;
  std::uint32_t waits = 0;                  ///< Result::waits
  std::int64_t wait_ns = 0;
  Heartbeat heartbeat;
  SteadyTime last_heard;
  SteadyTime last_progress;
};

}  // namespace ddbench::launch
