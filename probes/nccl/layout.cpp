// Checks the offsets of the members that are read, according to NCCL's public headers on 64-bit Linux. NCCL
// of each version passes these structs by address: a wrong offset would silently read garbage.
#include "probes/nccl/profiler_abi.h"
#include "probes/nccl/profiler_abi_v7.h"

namespace ddbench::nccl {

static_assert(sizeof(EventV3) == 120 && sizeof(EventV4) == 104 && sizeof(EventV5) == 112);
static_assert(offsetof(EventV3, parentObj) == 8 && offsetof(EventV3, rank) == 16);
static_assert(offsetof(EventV3, coll.commHash) == 32 && offsetof(EventV3, coll.seqNumber) == 40);
static_assert(offsetof(EventV3, coll.func) == 48 && offsetof(EventV3, coll.count) == 72);
static_assert(offsetof(EventV3, coll.datatype) == 88 && offsetof(EventV3, coll.nMaxChannels) == 96);
static_assert(offsetof(EventV3, coll.algo) == 104 && offsetof(EventV3, coll.proto) == 112);
static_assert(offsetof(EventV3, p2p.commHash) == 32 && offsetof(EventV3, p2p.func) == 40);
static_assert(offsetof(EventV3, p2p.datatype) == 56 && offsetof(EventV3, p2p.count) == 64);
static_assert(offsetof(EventV3, p2p.peer) == 72 && offsetof(EventV3, kernelCh.channelId) == 24);

template <typename Event>
constexpr bool lies_as_since_version_4() {
  return offsetof(Event, parentObj) == 8 && offsetof(Event, rank) == 16 &&
         offsetof(Event, coll.seqNumber) == 24 && offsetof(Event, coll.func) == 32 &&
         offsetof(Event, coll.count) == 56 && offsetof(Event, coll.datatype) == 72 &&
         offsetof(Event, coll.nChannels) == 80 && offsetof(Event, coll.algo) == 88 &&
         offsetof(Event, coll.proto) == 96 && offsetof(Event, p2p.func) == 24 &&
         offsetof(Event, p2p.datatype) == 40 && offsetof(Event, p2p.count) == 48 &&
         offsetof(Event, p2p.peer) == 56 && offsetof(Event, p2p.nChannels) == 60 &&
         offsetof(Event, proxyOp.pid) == 24 && offsetof(Event, proxyOp.channelId) == 28 &&
         offsetof(Event, kernelCh.channelId) == 24 && offsetof(Event, kernelCh.pTimer) == 32 &&
         offsetof(Event, netPlugin.id) == 24;
}
static_assert(lies_as_since_version_4<EventV4>() && lies_as_since_version_4<EventV5>() &&
              lies_as_since_version_4<EventV6>() && lies_as_since_version_4<EventV7>());
static_assert(offsetof(EventV5, groupApi.graphCaptured) == 24 &&
              offsetof(EventV5, collApi.graphCaptured) == 64 &&
              offsetof(EventV5, p2pApi.graphCaptured) == 56);
static_assert(offsetof(EventV5, coll.parentGroup) == 104 && offsetof(EventV5, p2p.parentGroup) == 64);
static_assert(sizeof(EventV7) == 136 && offsetof(EventV7, groupApi.graphCaptured) == 24 &&
              offsetof(EventV7, collApi.graphCaptured) == 64 && offsetof(EventV7, collApi.userTag) == 72 &&
              offsetof(EventV7, p2pApi.graphCaptured) == 56 && offsetof(EventV7, p2pApi.userTag) == 64 &&
              offsetof(EventV7, coll.parentGroup) == 104 && offsetof(EventV7, coll.kernelVariant) == 112 &&
              offsetof(EventV7, coll.isSymColl) == 120 && offsetof(EventV7, coll.userTag) == 128 &&
              offsetof(EventV7, p2p.parentGroup) == 64 && offsetof(EventV7, p2p.userTag) == 72 &&
              offsetof(EventV7, kernelPhase.channelId) == 24 &&
              offsetof(EventV7, kernelPhase.phaseId) == 25 &&
              offsetof(EventV7, kernelPhase.phaseName) == 32 && offsetof(EventV7, kernelPhase.pTimer) == 40);
static_assert(sizeof(PluginV7) == 48 && sizeof(StateArgs) == 8 && sizeof(PluginV3) == 48 &&
              sizeof(PluginV4) == 48 && sizeof(PluginV5) == 48);

}  // namespace ddbench::nccl
