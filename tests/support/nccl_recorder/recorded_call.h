#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "probes/nccl/profiler_abi.h"
#include "probes/nccl/profiler_abi_v7.h"

/// What NCCL calls of a profiler plug-in, written to a file on a machine with GPUs (nccl_recorder.cpp) and
/// called again without one (replay.h).
///
/// A recording is text. Its first line is kRecordingHead; each other one is a call as a JSON object, in the
/// order of the calls, which were made one at a time:
///
///   number    of the call, from 0: handles and contexts that the plug-in returned are given as the call's
///   number time_ns   when the plug-in was called, since the first call thread    that called, from 0 in the
///   order of their first calls version   of the plug-in's interface, 3 to 7 call      one of kCallNames
///   result    what the plug-in answered; 0 is success
///
///   init              communicator (0 in version 3, as are the numbers below), name, nodes, ranks, rank;
///   mask:
///                     what the plug-in asks for afterwards
///   startEvent        context, type (a name of kEventNames, or a number that has none there), parentObj,
///   rank,
///                     and what visit_fields() has of the type, by the names of NCCL
///   stopEvent         handle
///   recordEventState  handle, state, argument: the eight bytes of NCCL's union; null where it gave none, and
///   in
///                     version 3, whose union is another
///   finalize          context
///
///   returned  of init and startEvent: the number of the call; null where the plug-in returned null
///
/// Handles and contexts are numbers of calls, null, or, where no call of the recording returned them, texts
/// "0x7f01"; other addresses are such texts, too. A process is "own" or "foreign": NCCL's proxies work for
/// ranks of other processes, and their handles are texts. The last line of a program that was killed
/// may be cut short.
namespace ddbench::nccl_recorder {

using Json = nlohmann::ordered_json;

inline constexpr std::string_view kRecordingHead = R"({"recording":"NCCL profiler calls","format":1})";
inline constexpr const char* kRecordingVariable = "DDBENCH_NCCL_RECORDING";     ///< the file to create
inline constexpr const char* kPluginVariable = "DDBENCH_NCCL_RECORDED_PLUGIN";  ///< that is called

inline constexpr const char* kInit = "init";
inline constexpr const char* kStart = "startEvent";
inline constexpr const char* kStop = "stopEvent";
inline constexpr const char* kState = "recordEventState";
inline constexpr const char* kFinalize = "finalize";
inline constexpr std::array kCallNames = {kInit, kStart, kStop, kState, kFinalize};

/// By the number of their bit in the activation mask.
inline constexpr std::array kEventNames = {
    "Group",    "Coll",    "P2p",    "ProxyOp",      "ProxyStep", "ProxyCtrl", "KernelCh", "NetPlugin",
    "GroupApi", "CollApi", "P2pApi", "KernelLaunch", "CeColl",    "CeSync",    "CeBatch",  "KernelPhase"};

/// What a version's plug-in and events are, and by which name NCCL finds it.
template <int kVersion>
struct Interface;
template <>
struct Interface<3> {
  using Plugin = nccl::PluginV3;
  using Event = nccl::EventV3;
  static constexpr const char* kSymbol = "ncclProfiler_v3";
};
template <>
struct Interface<4> {
  using Plugin = nccl::PluginV4;
  using Event = nccl::EventV4;
  static constexpr const char* kSymbol = "ncclProfiler_v4";
};
template <>
struct Interface<5> {
  using Plugin = nccl::PluginV5;
  using Event = nccl::EventV5;
  static constexpr const char* kSymbol = "ncclProfiler_v5";
};
template <>
struct Interface<6> {
  using Plugin = nccl::PluginV6;
  using Event = nccl::EventV6;
  static constexpr const char* kSymbol = "ncclProfiler_v6";
};
template <>
struct Interface<7> {
  using Plugin = nccl::PluginV7;
  using Event = nccl::EventV7;
  static constexpr const char* kSymbol = "ncclProfiler_v7";
};

/// Of collectives, in all versions: `visit(name, member)` for each member, `visit.handle(name, member)` for
/// handles.
template <typename Coll, typename Visit>
void visit_collective(Coll& coll, Visit& visit) {
  if constexpr (requires { coll.commHash; }) {
    visit("name", coll.name);
    visit("commHash", coll.commHash);
  }
  visit("seqNumber", coll.seqNumber);
  visit("func", coll.func);
  visit("sendBuff", coll.sendBuff);
  visit("recvBuff", coll.recvBuff);
  visit("count", coll.count);
  visit("root", coll.root);
  visit("datatype", coll.datatype);
  if constexpr (requires { coll.nMaxChannels; }) {
    visit("nMaxChannels", coll.nMaxChannels);
  } else {
    visit("nChannels", coll.nChannels);
  }
  visit("nWarps", coll.nWarps);
  visit("algo", coll.algo);
  visit("proto", coll.proto);
  if constexpr (requires { coll.parentGroup; }) visit.handle("parentGroup", coll.parentGroup);
  if constexpr (requires { coll.isSymColl; }) {
    visit("kernelVariant", coll.kernelVariant);
    visit("isSymColl", coll.isSymColl);
    visit("userTag", coll.userTag);
  }
}

/// The same for sends and receives.
template <typename P2p, typename Visit>
void visit_point_to_point(P2p& p2p, Visit& visit) {
  if constexpr (requires { p2p.commHash; }) {
    visit("name", p2p.name);
    visit("commHash", p2p.commHash);
  }
  visit("func", p2p.func);
  visit("buff", p2p.buff);
  visit("datatype", p2p.datatype);
  visit("count", p2p.count);
  visit("peer", p2p.peer);
  if constexpr (requires { p2p.nChannels; }) visit("nChannels", p2p.nChannels);
  if constexpr (requires { p2p.parentGroup; }) visit.handle("parentGroup", p2p.parentGroup);
  if constexpr (requires { p2p.userTag; }) visit("userTag", p2p.userTag);
}

/// Of calls of NCCL's functions, which version 5 brought.
template <typename Event, typename Visit>
void visit_api(Event& event, Visit& visit) {
  switch (event.type) {
    case nccl::kGroupApi:
      visit("graphCaptured", event.groupApi.graphCaptured);
      visit("groupDepth", event.groupApi.groupDepth);
      break;
    case nccl::kCollApi:
      visit("func", event.collApi.func);
      visit("count", event.collApi.count);
      visit("datatype", event.collApi.datatype);
      visit("root", event.collApi.root);
      visit("stream", event.collApi.stream);
      visit("graphCaptured", event.collApi.graphCaptured);
      break;
    case nccl::kP2pApi:
      visit("func", event.p2pApi.func);
      visit("count", event.p2pApi.count);
      visit("datatype", event.p2pApi.datatype);
      visit("stream", event.p2pApi.stream);
      visit("graphCaptured", event.p2pApi.graphCaptured);
      break;
    default: break;
  }
}

/// All that profiler_abi.h has of an event of this version and type, its type, parent and rank excepted.
/// `visit.process(name, pid)` is called for processes.
template <typename Event, typename Visit>
void visit_fields(Event& event, Visit& visit) {
  switch (static_cast<std::uint64_t>(event.type)) {
    case nccl::kColl: return visit_collective(event.coll, visit);
    case nccl::kP2p: return visit_point_to_point(event.p2p, visit);
    case nccl::kProxyOp:
      visit.process("pid", event.proxyOp.pid);
      visit("channelId", event.proxyOp.channelId);
      visit("peer", event.proxyOp.peer);
      visit("nSteps", event.proxyOp.nSteps);
      visit("chunkSize", event.proxyOp.chunkSize);
      visit("isSend", event.proxyOp.isSend);
      return;
    case nccl::kKernelCh:
      visit("channelId", event.kernelCh.channelId);
      if constexpr (requires { event.kernelCh.pTimer; }) visit("pTimer", event.kernelCh.pTimer);
      return;
    case nccl::kKernelPhase:
      if constexpr (requires { event.kernelPhase; }) {
        visit("channelId", event.kernelPhase.channelId);
        visit("phaseId", event.kernelPhase.phaseId);
        visit("phaseName", event.kernelPhase.phaseName);
        visit("pTimer", event.kernelPhase.pTimer);
      }
      return;
    case nccl::kNetPlugin:
      visit("id", event.netPlugin.id);
      visit("data", event.netPlugin.data);
      return;
    default:
      if constexpr (requires { event.groupApi; }) visit_api(event, visit);
  }
}

}  // namespace ddbench::nccl_recorder
