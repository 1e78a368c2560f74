#pragma once

#include "probes/nccl/profiler_abi.h"

/// What version 7 of the interface adds, as profiler_abi.h has the versions before it.
namespace ddbench::nccl {

struct CollApiV7 {
  const char* func;
  std::size_t count;
  const char* datatype;
  int root;
  void* stream;
  bool graphCaptured;
  std::uint64_t userTag;
};
struct P2pApiV7 {
  const char* func;
  std::size_t count;
  const char* datatype;
  void* stream;
  bool graphCaptured;
  std::uint64_t userTag;
};
struct CollV7 {
  std::uint64_t seqNumber;
  const char* func;
  const void* sendBuff;
  void* recvBuff;
  std::size_t count;
  int root;
  const char* datatype;
  std::uint8_t nChannels;
  std::uint8_t nWarps;
  const char* algo;
  const char* proto;
  void* parentGroup;
  const char* kernelVariant;
  bool isSymColl;
  std::uint64_t userTag;
};
struct P2pV7 {
  const char* func;
  void* buff;
  const char* datatype;
  std::size_t count;
  int peer;
  std::uint8_t nChannels;
  void* parentGroup;
  std::uint64_t userTag;
};
struct KernelPhase {
  std::uint8_t channelId;
  std::uint8_t phaseId;
  const char* phaseName;
  std::uint64_t pTimer;
};

struct EventV7 {
  std::uint64_t type;
  void* parentObj;
  int rank;
  union {
    GroupApi groupApi;
    CollApiV7 collApi;
    P2pApiV7 p2pApi;
    CollV7 coll;
    P2pV7 p2p;
    ProxyOp proxyOp;
    KernelCh kernelCh;
    NetPlugin netPlugin;
    KernelPhase kernelPhase;
  };
};

struct PluginV7 {
  const char* name;
  Result (*init)(void** context, std::uint64_t comm_id, int* mask, const char* comm_name, int nodes,
                 int ranks, int rank, LogFunction log);
  Result (*startEvent)(void* context, void** handle, EventV7* event);
  Result (*stopEvent)(void* handle);
  Result (*recordEventState)(void* handle, int state, StateArgs* arguments);
  Result (*finalize)(void* context);
};

}  // namespace ddbench::nccl
