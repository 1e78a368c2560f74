#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/nccl_event.h"
#include "probes/nccl/profiler_abi.h"
#include "probes/nccl/profiler_abi_v7.h"
#include "probes/nccl/wanted_events.h"
#include "probes/preload/session/process_recorder.h"
#include "probes/recorder/recorder.h"
#include "probes/recorder/spool.h"
#include "tests/unit/probes/recorder/temp_directory.h"

namespace ddbench::nccl {

/// NCCL has one mask for all of its communicators, and passes its place to each.
inline int event_mask = 0;

/// The real shared object, opened and called as NCCL does it, recording into a recorder of the test.
class NcclDriver : public ::testing::Test {
 protected:
  NcclDriver() : recorder_({directory_.path() / "rank0.spool", 1u << 12, 0, "test"}) {
    inject::adopt_recorder(&recorder_);
    ::setenv(kKernelEventsVariable, "1", 1);  // whatever the size of /dev/shm
    // Counters are those of the process: an empty communicator gives their values before the test.
    auto& any = plugin<PluginV5>("ncclProfiler_v5");
    void* context = nullptr;
    any.init(&context, 0xffff, &event_mask, "", 1, 1, 0, nullptr);
    any.finalize(context);
  }
  ~NcclDriver() override { inject::adopt_recorder(nullptr); }

  template <typename Plugin>
  static Plugin& plugin(const char* symbol) {
    void* const module = ::dlopen(DDBENCH_NCCL_PROFILER, RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) throw std::runtime_error(::dlerror());
    void* const found = ::dlsym(module, symbol);
    if (found == nullptr) throw std::runtime_error(symbol);
    return *static_cast<Plugin*>(found);
  }

  struct Recorded {
    std::vector<Span> events;  ///< of kind kNcclEvent
    std::vector<Span> waits;   ///< likewise, for the last rank
    std::vector<Span> host;
    std::vector<NcclEvent> names;            ///< of the events
    std::map<std::string, double> counters;  ///< counted in the test
  };
  Recorded recorded() {
    recorder_.stop();
    host::SpoolReader reader(directory_.path() / "rank0.spool");
    const host::SpoolBatch batch = reader.read();
    Recorded result;
    std::map<std::string, double> first;
    for (const Span& span : batch.spans) {
      if (span.kind != SpanKind::kNcclEvent) {
        result.host.push_back(span);
        continue;
      }
      if (batch.new_names.at(span.name_id) == kNcclInitialSync) {
        result.waits.push_back(span);
        continue;
      }
      result.events.push_back(span);
      result.names.push_back(parse_nccl_event(batch.new_names.at(span.name_id)).value());
    }
    for (const host::Scalar& scalar : batch.scalars) {
      const auto [before, is_first] = first.try_emplace(batch.new_names.at(scalar.name_id), scalar.value);
      result.counters[before->first] = scalar.value - before->second;
    }
    return result;
  }

  /// The spool of an NCCL program without ddbench, for which only the environment states where to write: rank
  /// 1, which runs `body` and exits in order.
  template <typename Body>
  std::filesystem::path spool_of_program(const Body& body) {
    recorder_.flush();  // in the child, what its drain thread holds leaks
    const pid_t child = ::fork();
    if (child == 0) {
      ::setenv("DDBENCH_SPOOL_DIR", directory_.path().c_str(), 1);
      ::unsetenv("DDBENCH_SPOOL");
      body();
      std::exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    return directory_.path() / ("rank1." + std::to_string(child) + ".spool");
  }

  testing::TempDirectory directory_;
  host::Recorder recorder_;
};

/// One communicator of one rank, as NCCL 2.28 (version 5) or 2.27 (version 4) drives it.
template <typename Plugin, typename Event>
class Comm {
 public:
  Comm(Plugin& plugin, std::uint64_t id, int ranks, int rank) : plugin_(plugin) {
    if constexpr (requires { plugin.init(&context_, id, &event_mask, "world", 1, ranks, rank, nullptr); }) {
      plugin.init(&context_, id, &event_mask, "world", 1, ranks, rank, nullptr);
    } else {
      plugin.init(&context_, &event_mask, "world", id, 1, ranks, rank, nullptr);
    }
  }

  void* start(Event event) {
    void* handle = reinterpret_cast<void*>(0xdead);  // NCCL does not clear it either
    plugin_.startEvent(context_, &handle, &event);
    return handle;
  }
  void* coll(const char* function, std::uint64_t sequence, std::size_t count, std::uint8_t channels,
             void* parent = nullptr) {
    Event event{};
    event.type = static_cast<decltype(event.type)>(kColl);
    event.parentObj = parent;
    event.coll.seqNumber = sequence;
    event.coll.func = function;
    event.coll.count = count;
    event.coll.datatype = "ncclFloat32";
    event.coll.nChannels = channels;
    event.coll.algo = "RING";
    event.coll.proto = "LL128";
    return start(event);
  }
  void* channel(void* parent, std::uint8_t channel, std::uint64_t timer) {
    Event event{};
    event.type = static_cast<decltype(event.type)>(kKernelCh);
    event.parentObj = parent;
    event.kernelCh.channelId = channel;
    event.kernelCh.pTimer = timer;
    return start(event);
  }
  void end_channel(void* handle, std::uint64_t timer) {
    StateArgs state{};
    state.kernelCh.pTimer = timer;
    plugin_.recordEventState(handle, kStateKernelChStop, &state);
    plugin_.stopEvent(handle);
  }
  void* p2p(const char* function, int rank, int peer) {
    Event event{};
    event.type = static_cast<decltype(event.type)>(kP2p);
    event.rank = rank;
    event.p2p.func = function;
    event.p2p.count = 1;
    event.p2p.datatype = "ncclFloat32";
    event.p2p.peer = peer;
    event.p2p.nChannels = 1;
    return start(event);
  }
  void* proxy(void* parent, pid_t pid) {
    Event event{};
    event.type = static_cast<decltype(event.type)>(kProxyOp);
    event.parentObj = parent;
    event.proxyOp.pid = pid;
    return start(event);
  }
  void stop(void* handle) { plugin_.stopEvent(handle); }
  void finalize() { plugin_.finalize(context_); }

  const int& mask = event_mask;

 private:
  Plugin& plugin_;
  void* context_ = nullptr;
};
using Comm4 = Comm<PluginV4, EventV4>;
using Comm5 = Comm<PluginV5, EventV5>;
using Comm7 = Comm<PluginV7, EventV7>;

inline PluginV5& version_5() {
  struct Open : NcclDriver {
    using NcclDriver::plugin;
  };
  return Open::plugin<PluginV5>("ncclProfiler_v5");
}

/// A GPU timer that runs beside the process's clock.
inline std::uint64_t timer(std::int64_t ahead_ns = 0) {
  return static_cast<std::uint64_t>(now_ns() + 1'000'000'000'000 + ahead_ns);
}

/// In NCCL's order: enqueued at once, its channels reported later.
template <typename C>
void whole(C& comm, const char* function, std::uint64_t sequence, std::size_t count, int channels) {
  void* const coll = comm.coll(function, sequence, count, static_cast<std::uint8_t>(channels));
  comm.stop(coll);
  std::vector<void*> handles;
  for (int channel = 0; channel < channels; ++channel) {
    handles.push_back(comm.channel(coll, static_cast<std::uint8_t>(channel), timer()));
  }
  for (void* const handle : handles) comm.end_channel(handle, timer());
}

}  // namespace ddbench::nccl
