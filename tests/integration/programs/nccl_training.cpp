// Two all-reduces per step, reported to NCCL's profiler plug-in as NCCL 2.28 reports them: NCCL itself needs
// a GPU.
#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>

#include "probes/nccl/profiler_abi.h"

using namespace ddbench::nccl;

namespace {

PluginV5* plugin = nullptr;
void* context = nullptr;

std::uint64_t gpu_timer() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

void* start(EventV5 event) {
  void* handle = nullptr;
  plugin->startEvent(context, &handle, &event);
  return handle;
}

void all_reduce(std::uint64_t sequence, std::size_t count, int milliseconds) {
  EventV5 coll{};
  coll.type = kColl;
  coll.coll = {sequence,      "AllReduce", nullptr, nullptr, count,    0,
               "ncclFloat32", 2,           8,       "RING",  "SIMPLE", nullptr};
  void* const handle = start(coll);
  EventV5 proxy{};
  proxy.type = kProxyOp;
  proxy.parentObj = handle;
  proxy.proxyOp.pid = ::getpid();
  void* const operation = start(proxy);
  plugin->stopEvent(handle);
  void* channels[2];
  for (std::uint8_t channel = 0; channel < 2; ++channel) {
    EventV5 kernel{};
    kernel.type = kKernelCh;
    kernel.parentObj = handle;
    kernel.kernelCh = {channel, gpu_timer()};
    channels[channel] = start(kernel);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  plugin->stopEvent(operation);
  for (void* const channel : channels) {
    StateArgs state{};
    state.kernelCh.pTimer = gpu_timer();
    plugin->recordEventState(channel, kStateKernelChStop, &state);
    plugin->stopEvent(channel);
  }
}

/// As NCCL does when the first communicator connects: "%p" in the name is its process.
void log_connection(int rank, int ranks) {
  const char* const level = std::getenv("NCCL_DEBUG");
  const char* const file = std::getenv("NCCL_DEBUG_FILE");
  if (level == nullptr || std::string(level) != "INFO" || file == nullptr) return;
  std::string name(file);
  if (const auto at = name.find("%p"); at != std::string::npos)
    name.replace(at, 2, std::to_string(::getpid()));
  std::FILE* const log = std::fopen(name.c_str(), "w");
  std::fprintf(log, "host:%d:1 [0] NCCL INFO Channel 00/0 : %d[0] -> %d[0] [send] via NET/Socket/0\n",
               ::getpid(), rank, (rank + 1) % ranks);
  std::fclose(log);
}

}  // namespace

int main() {
  void* const library = ::dlopen(std::getenv("NCCL_PROFILER_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::fprintf(stderr, "%s\n", ::dlerror()), 1;
  plugin = static_cast<PluginV5*>(::dlsym(library, "ncclProfiler_v5"));
  int mask = 0;
  const char* const own = std::getenv("TRAINING_RANK");  // in the place of RANK
  const int rank = std::atoi(own != nullptr ? own : std::getenv("RANK"));
  const int ranks = std::atoi(std::getenv("WORLD_SIZE"));
  log_connection(rank, ranks);
  plugin->init(&context, 0xabcdef, &mask, "world", 1, ranks, rank, nullptr);
  for (std::uint64_t step = 0; step < 30; ++step) {
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
    all_reduce(2 * step, 1'000'000, 3);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    all_reduce(2 * step + 1, 250'000, 1);
  }
  plugin->finalize(context);
  ::dlclose(library);
}
