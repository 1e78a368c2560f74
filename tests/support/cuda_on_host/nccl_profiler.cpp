#include "nccl_profiler.h"

#include <dlfcn.h>

#include <cstdlib>
#include <ctime>

#include "probes/nccl/profiler_abi.h"

namespace ddbench::cuda_on_host {
namespace {

using namespace ddbench::nccl;

constexpr int kWarps = 16;

// NCCL's is one for all communicators of the process, too. The plug-in writes it.
int wanted = 0;

const char* name_of(NcclFunction function) {
  constexpr std::array kNames = {"AllReduce", "Broadcast", "Reduce", "ReduceScatter",
                                 "AllGather", "Send",      "Recv"};
  return kNames[static_cast<std::size_t>(function)];
}

const char* name_of(ncclDataType_t type) {
  return type == ncclFloat16 ? "ncclFloat16" : type == ncclBfloat16 ? "ncclBfloat16" : "ncclFloat32";
}

std::uint64_t gpu_timer() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

void log_nothing(int, unsigned long, const char*, int, const char*, ...) {}

}  // namespace

std::unique_ptr<NcclProfiler> NcclProfiler::open(std::uint64_t communicator, int nodes, int ranks, int rank) {
  const char* const name = std::getenv("NCCL_PROFILER_PLUGIN");
  if (name == nullptr || *name == '\0') return nullptr;
  void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);  // never closed: it may have threads
  if (library == nullptr) return nullptr;
  auto* const plugin = static_cast<PluginV5*>(::dlsym(library, "ncclProfiler_v5"));
  if (plugin == nullptr) return nullptr;
  std::unique_ptr<NcclProfiler> profiler(new NcclProfiler(*plugin, rank));
  plugin->init(&profiler->context_, communicator, &wanted, "", nodes, ranks, rank, log_nothing);
  return profiler;
}

NcclProfiler::~NcclProfiler() {
  plugin_.finalize(context_);
}

std::vector<void*> NcclProfiler::queue(const std::vector<NcclCall>& calls, bool captured) {
  EventV5 of_api{};
  of_api.groupApi = {captured, 1};
  void* const group_api = start(kGroupApi, nullptr, of_api);
  stop(start(kKernelLaunch, group_api));
  void* const group = start(kGroup, nullptr);
  std::vector<void*> events;
  for (const NcclCall& call : calls) {
    void* const api = start_api(call, captured, group_api);
    events.push_back(start_task(call, api, group));
    stop(events.back());  // which only means that it is queued
    stop(api);
  }
  stop(group);
  stop(group_api);
  return events;
}

NcclProfiler::Channels NcclProfiler::begin(void* event) {
  Channels channels{};
  if (event == nullptr) return channels;
  for (std::size_t i = 0; i < kChannels; ++i) {
    EventV5 channel{};
    channel.kernelCh = {static_cast<std::uint8_t>(i), gpu_timer()};
    channels[i] = start(kKernelCh, event, channel);
  }
  return channels;
}

void NcclProfiler::end(const Channels& channels) {
  for (void* const channel : channels) {
    if (channel == nullptr) continue;
    StateArgs state{};
    state.kernelCh.pTimer = gpu_timer();
    plugin_.recordEventState(channel, kStateKernelChStop, &state);
    stop(channel);
  }
}

void* NcclProfiler::start(EventType type, void* parent, EventV5 event) {
  if ((__atomic_load_n(&wanted, __ATOMIC_RELAXED) & static_cast<int>(type)) == 0) return nullptr;
  event.type = type;
  event.parentObj = parent;
  event.rank = rank_;
  void* handle = nullptr;
  plugin_.startEvent(context_, &handle, &event);
  return handle;
}

void NcclProfiler::stop(void* handle) {
  if (handle != nullptr) plugin_.stopEvent(handle);
}

void* NcclProfiler::start_api(const NcclCall& call, bool captured, void* group) {
  EventV5 event{};
  const char* const function = name_of(call.function);
  if (is_collective(call)) {
    event.collApi = {function, call.count, name_of(call.type), call.peer, nullptr, captured};
    return start(kCollApi, group, event);
  }
  event.p2pApi = {function, call.count, name_of(call.type), nullptr, captured};
  return start(kP2pApi, group, event);
}

void* NcclProfiler::start_task(const NcclCall& call, void* parent, void* group) {
  EventV5 event{};
  const char* const function = name_of(call.function);
  if (!is_collective(call)) {
    void* const buffer = call.function == NcclFunction::kSend ? const_cast<void*>(call.input) : call.output;
    event.p2p = {function, buffer, name_of(call.type), call.count, call.peer, kChannels, group};
    return start(kP2p, parent, event);
  }
  const std::uint64_t sequence = sequences_[static_cast<std::size_t>(call.function)]++;
  event.coll = {sequence,           function,  call.input, call.output, call.count, call.peer,
                name_of(call.type), kChannels, kWarps,     "RING",      "SIMPLE",   group};
  return start(kColl, parent, event);
}

}  // namespace ddbench::cuda_on_host
