#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

/// The binary interface of NCCL's profiler plug-ins, versions 3 to 7, as NCCL's public headers
/// (src/include/plugin/profiler) define it: names of the exported structs, order and types of members. Events
/// that ddbench never requests have no member; none of them is larger than those that have one. layout.cpp
/// checks it.
///
/// Read in these tags, in which NCCL had the version first: 3 v2.26.2-1, 4 v2.27.3-1, 5 v2.28.3-1,
/// 6 v2.29.2-1, 7 the sources of 2.31.2.
namespace ddbench::nccl {

using Result = int;  ///< ncclResult_t: 0 is success
using LogFunction = void (*)(int level, unsigned long flags, const char* file, int line, const char* format,
                             ...);

/// Bits of the activation mask, and types of events.
enum EventType : std::uint64_t {
  kGroup = 1u << 0,
  kColl = 1u << 1,
  kP2p = 1u << 2,
  kProxyOp = 1u << 3,
  kProxyStep = 1u << 4,
  kProxyCtrl = 1u << 5,
  kKernelCh = 1u << 6,
  kNetPlugin = 1u << 7,
  kGroupApi = 1u << 8,
  kCollApi = 1u << 9,
  kP2pApi = 1u << 10,
  kKernelLaunch = 1u << 11,
  kKernelPhase = 1u << 15,  ///< since version 7; of symmetric kernels only, and of those with kKernelCh
};

// States of recordEventState, whose argument holds the stop timer.
inline constexpr int kStateKernelChStop = 22;
inline constexpr int kStateKernelPhaseStop = 31;

// Phases of a channel of a symmetric kernel.
inline constexpr std::uint8_t kPhaseInitialSync = 0;  ///< until all ranks are there
inline constexpr std::uint8_t kPhaseCompute = 1;
inline constexpr std::uint8_t kPhaseFinalSync = 2;  ///< until all ranks are done

/// The upper 16 bits of a network plug-in's event id.
inline constexpr std::int64_t kNetInfiniband = 1;
inline constexpr std::int64_t kNetSocket = 2;

// Parts that versions share. The names are those of the members in NCCL.
struct GroupApi {
  bool graphCaptured;
  int groupDepth;
};
struct CollApi {
  const char* func;
  std::size_t count;
  const char* datatype;
  int root;
  void* stream;
  bool graphCaptured;
};
struct P2pApi {
  const char* func;
  std::size_t count;
  const char* datatype;
  void* stream;
  bool graphCaptured;
};
struct ProxyOp {
  pid_t pid;
  std::uint8_t channelId;
  int peer;
  int nSteps;
  int chunkSize;
  int isSend;
};
struct KernelCh {
  std::uint8_t channelId;
  std::uint64_t pTimer;
};
struct NetPlugin {
  std::int64_t id;
  void* data;
};
struct CollV4 {
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
};
struct P2pV4 {
  const char* func;
  void* buff;
  const char* datatype;
  std::size_t count;
  int peer;
  std::uint8_t nChannels;
};
struct CollV5 {
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
};
struct P2pV5 {
  const char* func;
  void* buff;
  const char* datatype;
  std::size_t count;
  int peer;
  std::uint8_t nChannels;
  void* parentGroup;
};

struct EventV3 {
  std::uint8_t type;
  void* parentObj;
  int rank;
  union {
    struct {
      const char* name;
      std::uint64_t commHash;
      std::uint64_t seqNumber;
      const char* func;
      const void* sendBuff;
      void* recvBuff;
      std::size_t count;
      int root;
      const char* datatype;
      std::uint8_t nMaxChannels;
      std::uint8_t nWarps;
      const char* algo;
      const char* proto;
    } coll;
    struct {
      const char* name;
      std::uint64_t commHash;
      const char* func;
      void* buff;
      const char* datatype;
      std::size_t count;
      int peer;
    } p2p;
    ProxyOp proxyOp;
    struct {
      std::uint8_t channelId;
    } kernelCh;
    NetPlugin netPlugin;
  };
};

struct EventV4 {
  std::uint8_t type;
  void* parentObj;
  int rank;
  union {
    CollV4 coll;
    P2pV4 p2p;
    ProxyOp proxyOp;
    KernelCh kernelCh;
    NetPlugin netPlugin;
  };
};

struct EventV5 {
  std::uint64_t type;
  void* parentObj;
  int rank;
  union {
    GroupApi groupApi;
    CollApi collApi;
    P2pApi p2pApi;
    CollV5 coll;
    P2pV5 p2p;
    ProxyOp proxyOp;
    KernelCh kernelCh;
    NetPlugin netPlugin;
  };
};

/// Copy-engine collectives, which version 6 adds, are not requested; the rest of the layout equals version 5.
using EventV6 = EventV5;

/// From version 4 on. Version 3 has no state that is read.
union StateArgs {
  struct {
    std::uint64_t pTimer;
  } kernelCh;
};

struct PluginV3 {
  const char* name;
  Result (*init)(void** context, int* mask);
  Result (*startEvent)(void* context, void** handle, EventV3* event);
  Result (*stopEvent)(void* handle);
  Result (*recordEventState)(void* handle, int state, void* arguments);
  Result (*finalize)(void* context);
};
struct PluginV4 {
  const char* name;
  Result (*init)(void** context, int* mask, const char* comm_name, std::uint64_t comm_hash, int nodes,
                 int ranks, int rank, LogFunction log);
  Result (*startEvent)(void* context, void** handle, EventV4* event);
  Result (*stopEvent)(void* handle);
  Result (*recordEventState)(void* handle, int state, StateArgs* arguments);
  Result (*finalize)(void* context);
};
struct PluginV5 {
  const char* name;
  Result (*init)(void** context, std::uint64_t comm_id, int* mask, const char* comm_name, int nodes,
                 int ranks, int rank, LogFunction log);
  Result (*startEvent)(void* context, void** handle, EventV5* event);
  Result (*stopEvent)(void* handle);
  Result (*recordEventState)(void* handle, int state, StateArgs* arguments);
  Result (*finalize)(void* context);
};
using PluginV6 = PluginV5;

}  // namespace ddbench::nccl
