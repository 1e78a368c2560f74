#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>

#include "probes/nccl/device_clock.h"
#include "probes/nccl/profiler_abi.h"
#include "probes/preload/session/thread_range.h"

namespace ddbench::nccl {

/// The handle that NCCL receives and passes back: the operation's index in the table, and which part of it.
/// It is not an address, so that a handle that NCCL kept too long is recognised instead of dereferenced.
struct Handle {
  EventType type = kGroup;
  std::uint8_t channel = 0;      ///< of a kernel channel; of an API call the flags below
  std::uint32_t generation = 0;  ///< of a group its number
  std::uint32_t slot = 0;

  static constexpr std::uint8_t kCaptured = 1;     ///< the call was captured in a graph
  static constexpr std::uint8_t kWithKernels = 2;  ///< the kernels of its operations report their channels

  void* encoded() const noexcept;
  static Handle decode(const void* handle) noexcept;
};

/// One communicator of this process, for the life of the process: late events may still name it.
struct Communicator {
  std::uint64_t id = 0;
  int ranks = 1;  ///< 0: not known, as version 3 does not report it
  int rank = 0;
  bool is_open = false;
  Handle newest;              ///< of its operations that have begun
  std::uint64_t open_flight = 0;  ///< of the newest collective without events of its end; 0: none
  Handle last;                ///< of its operations, the last that was enqueued
  std::uint32_t group = 0;    ///< that it belongs to; 0: none
  std::int64_t group_ns = 0;  ///< when the first one of that was enqueued
  std::deque<Handle>
      waiting;  ///< collectives, sends and receives in the table, in the order of their enqueueing
  unsigned reported_to =
      0;  ///< generation of the recorder that knows its size; 0: of none, or it is not known
};

/// A collective or point-to-point operation from when it is enqueued until its last channel has ended. One
/// that a CUDA graph was captured from comes again, as an operation of its own, with each replay.
struct Operation {
  Communicator* communicator = nullptr;  ///< null: the slot is free
  std::uint32_t generation = 1;
  EventType type = kColl;
  std::string_view function;  ///< ddbench's word; points to static text
  const char* algorithm = "";
  const char* protocol = "";
  std::uint64_t bytes = 0;
  std::uint64_t sequence = 0;        ///< 48 bits of collective_key()
  bool captured = false;             ///< in a CUDA graph
  inject::Range range;               ///< of the thread that enqueued it
  int channels = 0;                  ///< that it runs on; 0: not known
  bool with_kernels = true;          ///< its channels report; else only its enqueueing will be known
  std::uint32_t group = 0;           ///< operations of one number have one kernel; 0: not known
  std::int64_t enqueued_ns = 0;      ///< startEvent was called
  std::int64_t group_ns = 0;         ///< for the first operation of its group; 0: group not known
  std::int64_t enqueued_end_ns = 0;  ///< stopEvent was called: it is enqueued, and no more than that
  bool reported_late = false;            ///< no longer waited for
  bool newer_began = false;          ///< of the same communicator, which runs them in their order
  bool newer_ended = false;          ///< a later kernel of the same communicator is complete

  int channels_begun = 0;
  int channels_open = 0;
  std::uint64_t flight = 0;  ///< of note_flight_begin(); 0: none, or it has ended
  int proxies = 0;
  std::int64_t network = 0;       ///< kNetInfiniband, kNetSocket, 0
  bool untimed = false;           ///< a timer was an earlier operation's, and so its channels' ends may be
  std::int64_t begin_ns = 0;      ///< now_ns() of the first callback of a channel, or of an API call
  std::int64_t end_ns = 0;        ///< of the last one
  std::uint64_t begin_timer = 0;  ///< of the GPU; 0 where NCCL gives none
  std::uint64_t end_timer = 0;
  std::uint64_t phase_begin = 0;       ///< of the phase that is being reported
  std::uint64_t initial_sync_end = 0;  ///< of the GPU's timer, latest of all channels; 0: not reported
  std::uint64_t final_sync_begin = 0;  ///< likewise

  /// Every channel that was seen has ended, and as far as known none is missing. Proxies may still be active:
  /// those of CollNet never report that they are done.
  bool all_reported() const noexcept {
    if (enqueued_end_ns == 0 || !with_kernels) return enqueued_end_ns != 0;
    return channels_begun > 0 && channels_open == 0 && (channels_begun >= channels || newer_ended);
  }
  /// Whether its time is split, on the GPU's own clock.
  bool has_phases() const noexcept {
    return !untimed && begin_timer != 0 && (initial_sync_end != 0 || final_sync_begin != 0);
  }
  /// Nothing will follow. Of a send or receive NCCL skips the channels whose part is empty, but counts them.
  bool complete() const noexcept {
    return all_reported() && (!with_kernels || channels > 0 || newer_began || newer_ended);
  }
  void begin_channel(std::uint64_t timer, std::int64_t at_ns) noexcept;
  void stop_timer(std::uint64_t timer) noexcept;
  void end_phase(std::uint8_t phase, std::uint64_t timer) noexcept;  ///< it began at phase_begin
  void end_channel(std::int64_t at_ns) noexcept;
  /// One of "infiniband", "socket", "proxy", "direct"; "" when no channel was seen.
  std::string_view transport() const noexcept;
};

/// The operations under way, in a ring: the oldest makes place for the newest.
class Operations {
 public:
  static constexpr std::uint32_t kSlots = 1u << 13;

  Operations() : slots_(std::make_unique<std::array<Operation, kSlots>>()) {}
  /// The slot for the next operation; still that of an older one, if `communicator` is set.
  Operation& next() noexcept;
  /// Makes the slot that next() returned the new operation's.
  Handle take(const Operation& operation) noexcept;
  Operation* find(const Handle& handle) noexcept;  ///< null when it is no longer in the table
  void release(Operation& operation) noexcept;
  std::uint32_t slot_of(const Operation& operation) const noexcept {
    return static_cast<std::uint32_t>(&operation - slots_->data());
  }
  std::array<Operation, kSlots>& all() noexcept { return *slots_; }

 private:
  std::unique_ptr<std::array<Operation, kSlots>> slots_;
  std::uint32_t next_ = 0;
};

/// Bytes of an element of NCCL's type name ("ncclFloat32"); 0 when it is not known.
std::uint64_t size_of_type(std::string_view type) noexcept;

}  // namespace ddbench::nccl
