// What NCCL looks for by name in a profiler plug-in: the newest version that it knows itself is taken.
#include "probes/nccl/plugin.h"
#include "probes/nccl/profiler_abi.h"
#include "probes/nccl/profiler_abi_v7.h"

namespace ddbench::nccl {
namespace {

constexpr const char* kName = "ddbench";
constexpr Result kSuccess = 0;

template <typename Event>
EventStart parts_of_all(const Event& event) {
  EventStart start;
  start.type = event.type;
  start.parent = event.parentObj;
  start.rank = event.rank;
  switch (event.type) {
    case kColl:
      start.function = event.coll.func;
      start.datatype = event.coll.datatype;
      start.algorithm = event.coll.algo;
      start.protocol = event.coll.proto;
      start.count = event.coll.count;
      start.sequence = event.coll.seqNumber;
      break;
    case kP2p:
      start.function = event.p2p.func;
      start.datatype = event.p2p.datatype;
      start.count = event.p2p.count;
      break;
    case kProxyOp:
      start.pid = event.proxyOp.pid;
      start.channel = event.proxyOp.channelId;
      break;
    case kKernelCh: start.channel = event.kernelCh.channelId; break;
    case kNetPlugin: start.network = event.netPlugin.id >> 16; break;
    default: break;
  }
  return start;
}

EventStart start_of(const EventV3& event) {
  EventStart start = parts_of_all(event);
  if (event.type == kColl || event.type == kP2p) start.group = event.parentObj;
  if (event.type == kColl) {
    start.communicator = event.coll.commHash;  // and nMaxChannels, of which it may use less
  } else if (event.type == kP2p) {
    start.communicator = event.p2p.commHash;
  }
  return start;
}

/// A GPU's timer counts nanoseconds, from 1970 on or from its start. NCCL hands over what lies in the GPU's memory: what cannot be a
/// time is 0, as where it gives none.
std::uint64_t timer_of(std::uint64_t given) noexcept {
  constexpr std::uint64_t kLatestTimer = std::uint64_t{1} << 62;  // 2116
  return given <= kLatestTimer ? given : 0;
}

template <typename Event>
EventStart since_version_4(const Event& event) {
  EventStart start = parts_of_all(event);
  if (event.type == kColl) start.channels = event.coll.nChannels;
  if (event.type == kP2p) start.channels = event.p2p.nChannels;
  if (event.type == kKernelCh) start.timer = timer_of(event.kernelCh.pTimer);
  return start;
}

EventStart start_of(const EventV4& event) {
  EventStart start = since_version_4(event);
  if (event.type == kColl || event.type == kP2p) start.group = event.parentObj;
  return start;
}

template <typename Event>
EventStart since_version_5(const Event& event) {
  EventStart start = since_version_4(event);
  if (event.type == kGroupApi) start.captured = event.groupApi.graphCaptured;
  if (event.type == kCollApi) start.captured = event.collApi.graphCaptured;
  if (event.type == kP2pApi) start.captured = event.p2pApi.graphCaptured;
  if (event.type == kColl) start.group = event.coll.parentGroup;
  if (event.type == kP2p) start.group = event.p2p.parentGroup;
  return start;
}

EventStart start_of(const EventV5& event) {
  return since_version_5(event);
}

EventStart start_of(const EventV7& event) {
  EventStart start = since_version_5(event);
  if (event.type == kColl) start.symmetric = event.coll.isSymColl;
  if (event.type == kKernelPhase) {
    start.phase = event.kernelPhase.phaseId;
    start.timer = timer_of(event.kernelPhase.pTimer);
  }
  return start;
}

template <typename Event>
Result start_event(void* context, void** handle, Event* event) {
  // A rank's send to itself is a copy in a kernel that reports no channel.
  const bool is_own = event->type == kP2p && event->p2p.peer == event->rank;
  *handle = is_own ? nullptr : Plugin::instance().start(context, start_of(*event));
  return kSuccess;
}

Result init_v3(void** context, int* mask) {
  *context = Plugin::instance().open(3, 0, 0, 0, mask);
  return kSuccess;
}

Result init_v4(void** context, int* mask, const char* /*comm_name*/, std::uint64_t comm_hash, int /*nodes*/,
               int ranks, int rank, LogFunction /*log*/) {
  *context = Plugin::instance().open(4, comm_hash, ranks, rank, mask);
  return kSuccess;
}

template <int kVersion>
Result init_since_v5(void** context, std::uint64_t comm_id, int* mask, const char* /*comm_name*/,
                     int /*nodes*/, int ranks, int rank, LogFunction /*log*/) {
  *context = Plugin::instance().open(kVersion, comm_id, ranks, rank, mask);
  return kSuccess;
}

Result stop_event(void* handle) {
  Plugin::instance().stop(handle);
  return kSuccess;
}

Result record_state_v3(void* /*handle*/, int /*state*/, void* /*arguments*/) {
  return kSuccess;
}

Result record_state(void* handle, int state, StateArgs* arguments) {
  if (handle == nullptr || arguments == nullptr) return kSuccess;
  if (state == kStateKernelChStop) Plugin::instance().stop_timer(handle, timer_of(arguments->kernelCh.pTimer));
  if (state == kStateKernelPhaseStop) Plugin::instance().stop_phase(handle, timer_of(arguments->kernelCh.pTimer));
  return kSuccess;
}

Result finalize(void* context) {
  Plugin::instance().close(context);
  return kSuccess;
}

}  // namespace
}  // namespace ddbench::nccl

#define DDBENCH_EXPORT __attribute__((visibility("default")))

extern "C" {
using namespace ddbench::nccl;  // NOLINT(google-build-using-namespace): nothing follows but the exports

DDBENCH_EXPORT PluginV3 ncclProfiler_v3 = {kName,      init_v3,         start_event<EventV3>,
                                           stop_event, record_state_v3, finalize};
DDBENCH_EXPORT PluginV4 ncclProfiler_v4 = {kName,      init_v4,      start_event<EventV4>,
                                           stop_event, record_state, finalize};
DDBENCH_EXPORT PluginV5 ncclProfiler_v5 = {kName,      init_since_v5<5>, start_event<EventV5>,
                                           stop_event, record_state,     finalize};
DDBENCH_EXPORT PluginV6 ncclProfiler_v6 = {kName,      init_since_v5<6>, start_event<EventV6>,
                                           stop_event, record_state,     finalize};
DDBENCH_EXPORT PluginV7 ncclProfiler_v7 = {kName,      init_since_v5<7>, start_event<EventV7>,
                                           stop_event, record_state,     finalize};
}
