// A profiler plug-in of NCCL's that forwards to another one, unchanged, and records the calls.
// NCCL_PROFILER_PLUGIN points NCCL to it; kPluginVariable names the other one, by default ddbench's own
// beside it.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>

#include "call_recorder.h"

namespace ddbench::nccl_recorder {
namespace {

using nccl::LogFunction;
using nccl::Result;
using nccl::StateArgs;
using Returns = CallRecorder::Returns;

constexpr const char* kName = "ddbench recorder";
constexpr Result kSystemError = 2;

std::string name_of_recorded() {
  if (const char* const chosen = std::getenv(kPluginVariable); chosen != nullptr && *chosen != '\0')
    return chosen;
  Dl_info own{};
  ::dladdr(reinterpret_cast<void*>(&name_of_recorded), &own);
  return std::filesystem::path(own.dli_fname).parent_path() / "ddbench_nccl_profiler.so";
}

/// Never closed: as ddbench's, it may record until the process ends.
template <int kVersion>
typename Interface<kVersion>::Plugin* recorded() noexcept try {
  using Plugin = typename Interface<kVersion>::Plugin;
  static Plugin* const plugin = []() -> Plugin* {
    void* const module = ::dlopen(name_of_recorded().c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const found = module != nullptr ? ::dlsym(module, Interface<kVersion>::kSymbol) : nullptr;
    if (found == nullptr) std::fprintf(stderr, "ddbench_nccl_recorder.so: %s\n", ::dlerror());
    return static_cast<Plugin*>(found);
  }();
  return plugin;
} catch (...) {
  return nullptr;
}

struct NamedCommunicator {
  const char* name = nullptr;
  std::uint64_t id = 0;
  int nodes = 0;
  int ranks = 0;
  int rank = 0;
};

template <int kVersion, typename Init>
Result init(void** context, const int* mask, const NamedCommunicator& communicator, const Init& real_init) {
  auto* const plugin = recorded<kVersion>();
  if (plugin == nullptr) return kSystemError;  // NCCL goes on without a profiler
  return CallRecorder::instance().call(
      kInit, kVersion, Returns::kContext, context, [&] { return real_init(*plugin); },
      [&](CallLine& line) {
        line("communicator", communicator.id);
        line("name", communicator.name);
        line("nodes", communicator.nodes);
        line("ranks", communicator.ranks);
        line("rank", communicator.rank);
        line("mask", mask != nullptr ? *mask : 0);
      });
}

Result init_v3(void** context, int* mask) {
  return init<3>(context, mask, {}, [&](nccl::PluginV3& plugin) { return plugin.init(context, mask); });
}

Result init_v4(void** context, int* mask, const char* name, std::uint64_t hash, int nodes, int ranks,
               int rank, LogFunction log) {
  return init<4>(context, mask, {name, hash, nodes, ranks, rank}, [&](nccl::PluginV4& plugin) {
    return plugin.init(context, mask, name, hash, nodes, ranks, rank, log);
  });
}

template <int kVersion>
Result init_since_v5(void** context, std::uint64_t id, int* mask, const char* name, int nodes, int ranks,
                     int rank, LogFunction log) {
  return init<kVersion>(context, mask, {name, id, nodes, ranks, rank}, [&](auto& plugin) {
    return plugin.init(context, id, mask, name, nodes, ranks, rank, log);
  });
}

template <int kVersion>
Result start_event(void* context, void** handle, typename Interface<kVersion>::Event* event) {
  auto* const plugin = recorded<kVersion>();
  if (plugin == nullptr) return kSystemError;
  return CallRecorder::instance().call(
      kStart, kVersion, Returns::kHandle, handle, [&] { return plugin->startEvent(context, handle, event); },
      [&](CallLine& line) {
        line.context(context);
        line.type(event->type);
        if (event->type == nccl::kProxyOp && event->proxyOp.pid != ::getpid()) {
          line.foreign_parent(event->parentObj);
        } else {
          line.handle("parentObj", event->parentObj);
        }
        line("rank", event->rank);
        visit_fields(*event, line);
      });
}

template <int kVersion>
Result stop_event(void* handle) {
  auto* const plugin = recorded<kVersion>();
  if (plugin == nullptr) return kSystemError;
  return CallRecorder::instance().call(
      kStop, kVersion, Returns::kNothing, nullptr, [&] { return plugin->stopEvent(handle); },
      [&](CallLine& line) { line.handle("handle", handle); });
}

template <int kVersion, typename Arguments>
Result record_state(void* handle, int state, Arguments* arguments) {
  auto* const plugin = recorded<kVersion>();
  if (plugin == nullptr) return kSystemError;
  // Before the plug-in has it: it is NCCL's, and the plug-in may write it.
  std::optional<std::uint64_t> argument;
  if constexpr (kVersion > 3) {
    static_assert(sizeof(Arguments) == sizeof(std::uint64_t));
    if (arguments != nullptr) std::memcpy(&argument.emplace(), arguments, sizeof(std::uint64_t));
  }
  return CallRecorder::instance().call(
      kState, kVersion, Returns::kNothing, nullptr,
      [&] { return plugin->recordEventState(handle, state, arguments); },
      [&](CallLine& line) {
        line.handle("handle", handle);
        line("state", state);
        line.fields()["argument"] = argument ? Json(*argument) : Json();
      });
}

template <int kVersion>
Result finalize(void* context) {
  auto* const plugin = recorded<kVersion>();
  if (plugin == nullptr) return kSystemError;
  return CallRecorder::instance().call(
      kFinalize, kVersion, Returns::kNothing, nullptr, [&] { return plugin->finalize(context); },
      [&](CallLine& line) { line.context(context); });
}

}  // namespace
}  // namespace ddbench::nccl_recorder

#define DDBENCH_EXPORT __attribute__((visibility("default")))

extern "C" {
using namespace ddbench::nccl;  // NOLINT(google-build-using-namespace): nothing follows but the exports
using namespace ddbench::nccl_recorder;  // NOLINT(google-build-using-namespace)

DDBENCH_EXPORT PluginV3 ncclProfiler_v3 = {
    kName, init_v3, start_event<3>, stop_event<3>, record_state<3, void>, finalize<3>};
DDBENCH_EXPORT PluginV4 ncclProfiler_v4 = {
    kName, init_v4, start_event<4>, stop_event<4>, record_state<4, StateArgs>, finalize<4>};
DDBENCH_EXPORT PluginV5 ncclProfiler_v5 = {kName,         init_since_v5<5>,           start_event<5>,
                                           stop_event<5>, record_state<5, StateArgs>, finalize<5>};
DDBENCH_EXPORT PluginV6 ncclProfiler_v6 = {kName,         init_since_v5<6>,           start_event<6>,
                                           stop_event<6>, record_state<6, StateArgs>, finalize<6>};
DDBENCH_EXPORT PluginV7 ncclProfiler_v7 = {kName,         init_since_v5<7>,           start_event<7>,
                                           stop_event<7>, record_state<7, StateArgs>, finalize<7>};
}
