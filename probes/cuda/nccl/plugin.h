#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "ddbench/host/recorder.h"
#include "ddbench/record/nccl_event.h"
#include "operations.h"
#include "sample_windows.h"

namespace ddbench::nccl {

/// An event as any version of NCCL starts it; what a version does not tell stays as it is here.
struct EventStart {
  std::uint64_t type = 0;
  void* parent = nullptr;
  std::uint64_t communicator = 0;  ///< version 3 tells it here, later ones in init()
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
};

/// What went otherwise than a pair of start and stop each. Since the process started.
struct PluginCounters {
  std::uint64_t events = 0;      ///< operations that were started
  std::uint64_t unfinished = 0;  ///< whose channels did not all end: aborted, or pushed out by newer ones
  std::uint64_t unpaired = 0;    ///< starts below, and stops of, operations that are not known (any more)
  std::uint64_t foreign_proxies = 0;  ///< proxy operations of another process's collectives
  std::uint64_t unknown_functions = 0;
};

/// NCCL's profiler plug-in without its versions: turns events into spans of kind kNcclEvent in the process's
/// recorder. One a process, never destroyed: NCCL calls it from several threads until it is gone. Nothing
/// throws.
class Plugin {
 public:
  static Plugin& instance() noexcept;

  /// A communicator begins; `mask` is NCCL's, which it reads again at each group, and is filled with what is
  /// wanted. Returns NCCL's context.
  void* open(std::uint64_t communicator, int ranks, int rank, int* mask) noexcept;
  /// Returns the event's handle; null drops it.
  void* start(void* context, const EventStart& event) noexcept;
  void stop_timer(void* handle, std::uint64_t timer) noexcept;
  void stop(void* handle) noexcept;
  /// The communicator ended or was aborted: what is under way is recorded as far as it came.
  void close(void* context) noexcept;

  PluginCounters counters() noexcept;

 private:
  Plugin();
  void* start_operation(const Communicator& communicator, const EventStart& event);
  void* start_child(const EventStart& event);
  /// Of version 3, whose events name their communicator.
  const Communicator& known(std::uint64_t id, int rank);
  void finish(Operation& operation);
  void record(const Operation& operation, SpanKind kind, const std::string& name, std::int64_t begin_ns,
              std::int64_t end_ns);
  void record_counters();
  void set_mask(int value) noexcept;

  std::mutex mutex_;
  std::vector<std::unique_ptr<Communicator>> communicators_;
  int open_ = 0;  // communicators between open() and close()
  std::uint32_t closed_ = 0;
  Operations operations_;
  DeviceClock clock_;
  PluginCounters counters_;
  int* mask_ = nullptr;
  bool transport_proved_ = false;
  std::atomic<int> wanted_;
  std::unique_ptr<SampleWindows> windows_;
  // Of the recorder's generation.
  unsigned generation_ = 0;
  host::Recorder::Track* track_ = nullptr;
  std::unordered_map<std::string, std::uint32_t> name_ids_;
};

}  // namespace ddbench::nccl
