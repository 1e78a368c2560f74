#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/nccl_event.h"
#include "recording.h"

namespace ddbench::nccl {

/// A collective, send or receive of a recording, with times on the replay's clock.
struct TrueOperation {
  NcclEvent event;
  std::uint64_t key = 0;  ///< collective_key(); 0 for sends and receives
  std::uint64_t bytes = 0;
  bool captured = false;                  ///< in a CUDA graph: its timers are another's
  bool stale = false;                     ///< its timers may be from before it was enqueued
  bool timed = false;                     ///< by the GPU's timers
  std::int64_t enqueued_ns = 0;           ///< startEvent
  std::optional<std::int64_t> queued_ns;  ///< stopEvent
  std::int64_t begin_ns = 0;              ///< the first channel's callback; by timers: no span begins before
  std::int64_t end_ns = 0;                ///< the last one's; by timers: no span ends after
  std::int64_t latest_begin_ns = 0;       ///< by timers: of the least delay of a callback until it ended
  std::optional<std::int64_t> duration_ns;  ///< from its first channel to its last; none: none reported
};

/// A call of NCCL's on the host: its span is known to the nanosecond.
using TrueCall = std::tuple<std::string, std::int64_t, std::int64_t>;  ///< name, begin, end

/// What happened according to a recording of NCCL's calls, derived without the plug-in: the expected content
/// of its spool after the recording was replayed into it.
struct NcclTruth {
  /// Throws std::exception for a type of data or a chain of events that NCCL does not have.
  explicit NcclTruth(const nccl_recorder::Recording& recording);

  std::vector<TrueOperation> operations;  ///< in the order of their ends
  std::vector<TrueCall> calls;            ///< groups and launches that came back
  int unfinished = 0;                     ///< with unreported channels
  int captured = 0;                       ///< and reported with timers
  int stale = 0;
  int unpaired = 0;         ///< parts of operations that were over
  int foreign_proxies = 0;  ///< for operations of other processes
};

}  // namespace ddbench::nccl
