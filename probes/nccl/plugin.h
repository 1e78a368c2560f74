#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "probes/nccl/operation_spans.h"
#include "probes/nccl/operations.h"
#include "probes/nccl/sample_windows.h"
#include "probes/nccl/wanted_events.h"

namespace ddbench::nccl {

/// An event as any version of NCCL starts it; members that a version does not report keep these defaults.
struct EventStart {
  std::uint64_t type = 0;
  void* parent = nullptr;
  std::uint64_t communicator = 0;  ///< version 3 reports it here, later ones in init()
  int rank = 0;
  const char* function = nullptr;
  const char* datatype = nullptr;
  const char* algorithm = nullptr;
  const char* protocol = nullptr;
  std::uint64_t count = 0;
  std::uint64_t sequence = 0;
  int channels = 0;
  pid_t pid = 0;
  std::uint8_t channel = 0;
  std::uint64_t timer = 0;
  std::int64_t network = 0;
  bool captured = false;
  void* group = nullptr;  ///< the launch that it belongs to: parentObj before version 5
  bool symmetric = false;
  std::uint8_t phase = 0;
};

/// NCCL's profiler plug-in without its versions: turns events into spans of kind kNcclEvent in the process's
/// recorder. One a process, never destroyed: NCCL calls it from several threads until it is gone. Nothing
/// throws.
class Plugin {
 public:
  static Plugin& instance() noexcept;

  /// A communicator begins; `mask` belongs to NCCL, which reads it again at each group, and is filled with
  /// the requested events. `interface` is the version by which NCCL calls. Returns NCCL's context.
  void* open(int interface, std::uint64_t communicator, int ranks, int rank, int* mask) noexcept;
  /// Returns the event's handle; null drops it.
  void* start(void* context, const EventStart& event) noexcept;
  void stop_timer(void* handle, std::uint64_t timer) noexcept;
  void stop_phase(void* handle, std::uint64_t timer) noexcept;
  void stop(void* handle) noexcept;
  /// The communicator ended or was aborted: operations in progress are recorded as far as they came.
  void close(void* context) noexcept;
  /// The recorder is about to stop; programs, and the engine, end it before their communicators. Waits at
  /// most some milliseconds for reports of completed GPU work.
  void conclude() noexcept;
  /// While true, no events of newly enqueued operations are requested. Waits as conclude() for earlier ones.
  void pause(bool paused) noexcept;

 private:
  Plugin() = default;
  void* start_operation(Communicator& communicator, const EventStart& event);
  void describe(Operation& operation, const EventStart& event);
  void* start_api(const EventStart& event);
  void follow_graphs(bool captured);
  void place_in_group(Operation& operation, const EventStart& event);
  void end_older(const Operation& newer);
  void* start_child(const EventStart& event);
  /// For version 3, whose events name their communicator.
  Communicator& known(std::uint64_t id, int rank);
  void begin_channel(Operation& operation, const Handle& handle, std::uint64_t timer);
  std::uint64_t own_timer(Operation& operation, std::uint64_t timer, std::int64_t at_ns);
  void finish(Operation& operation);
  void finish_all(const Communicator* communicator);
  void note_phases(const Operation& operation) noexcept;
  void prove_transport(const Operation& operation) noexcept;
  void apply_mask() noexcept;
  bool kernels_report() const noexcept;
  void wait_until_reported(std::unique_lock<std::mutex>& lock) noexcept;

  std::mutex mutex_;
  std::vector<std::unique_ptr<Communicator>> communicators_;
  int open_ = 0;  // communicators between open() and close()
  Operations operations_;
  DeviceClock clock_;
  PluginCounters counters_;
  int* mask_ = nullptr;
  EventConditions conditions_;
  std::uint32_t groups_ = 0;  // that were started
  bool paused_ = false;
  bool window_is_on_ = true;
  int with_proxies_ = 0;  // operations, until what the bytes travel by is proved or cannot be
  std::unique_ptr<SampleWindows> windows_;
  OperationSpans recorded_;
};

}  // namespace ddbench::nccl
