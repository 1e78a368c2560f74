#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "nccl_calls.h"
#include "probes/nccl/profiler_abi.h"

namespace ddbench::cuda_on_host {

/// NCCL's side of its profiler plug-in, of version 5, for one communicator. One thread at a time.
class NcclProfiler {
 public:
  static constexpr std::uint8_t kChannels = 2;
  using Channels = std::array<void*, kChannels>;

  /// Null where NCCL_PROFILER_PLUGIN names none that can be opened.
  static std::unique_ptr<NcclProfiler> open(std::uint64_t communicator, int nodes, int ranks, int rank);
  ~NcclProfiler();  ///< reports the end of the communicator to the plug-in
  NcclProfiler(const NcclProfiler&) = delete;
  NcclProfiler& operator=(const NcclProfiler&) = delete;

  /// Calls of one launch. Returns their events, null where the plug-in wants none.
  std::vector<void*> queue(const std::vector<NcclCall>& calls, bool captured);
  /// The kernel begins the operation that `event` reports (repeatedly in a graph), and ends it.
  Channels begin(void* event);
  void end(const Channels& channels);

 private:
  NcclProfiler(nccl::PluginV5& plugin, int rank) : plugin_(plugin), rank_(rank) {}
  void* start(nccl::EventType type, void* parent, nccl::EventV5 event = {});
  void stop(void* handle);
  void* start_api(const NcclCall& call, bool captured, void* group);
  void* start_task(const NcclCall& call, void* parent, void* group);

  nccl::PluginV5& plugin_;
  const int rank_;
  void* context_ = nullptr;
  std::array<std::uint64_t, 7> sequences_{};  // of each function
};

}  // namespace ddbench::cuda_on_host
