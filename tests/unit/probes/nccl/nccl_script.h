#pragma once

#include "held_clock.h"
#include "nccl_driver.h"
#include "replay.h"

namespace ddbench::nccl {

/// Of the build, or of the folder that it was packed into.
inline std::filesystem::path module_file(const char* name) {
  const char* const packed = std::getenv("DDBENCH_MODULE_DIR");
  return std::filesystem::path(packed != nullptr ? packed : DDBENCH_NCCL_MODULES) / name;
}

/// The recorder as NCCL opens it.
template <int kVersion>
typename nccl_recorder::Interface<kVersion>::Plugin& recorder_of() {
  using Interface = nccl_recorder::Interface<kVersion>;
  void* const module = ::dlopen(module_file("ddbench_nccl_recorder.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) throw std::runtime_error(::dlerror());
  void* const found = ::dlsym(module, Interface::kSymbol);
  if (found == nullptr) throw std::runtime_error(Interface::kSymbol);
  return *static_cast<typename Interface::Plugin*>(found);
}

/// At least one of everything that a version of NCCL reports to the recorder, from three threads, on a clock
/// of its own: two communicators, the network, another process's proxy, replays of a graph, late and lost
/// timers, operations without reports, and repeated reports. Run once per process.
template <int kVersion>
class NcclScript {
 public:
  void run() {
    open(world_, 0xA1, "world", 2, 0);
    with_network();
    open(half_, 0xB2, nullptr, 1, 0);
    void* const gathered = enqueue(half_, "AllGather", 0, 1);
    start(half_, of_proxy(gathered));
    end(channel(half_, gathered, 0), 500'000);
    point_to_point();
    what_is_reported_twice();
    if constexpr (kVersion >= 5) replays_of_a_graph();
    void* const behind = enqueue(world_, "AllReduce", 4, 1);
    end(channel(world_, behind, 0, -50'000'000), 0, -49'000'000);
    of_unknown_channels();
    enqueue(world_, "AllReduce", 7, 1);  // it never begins
    finalize(half_);
    end(channel(world_, enqueue(world_, "ReduceScatter", 0, 1), 0), 700'000);
    finalize(world_);
    nccl_recorder::hold_clock(0);
  }

 private:
  using Event = typename nccl_recorder::Interface<kVersion>::Event;

  /// The next call's time.
  void tick() { nccl_recorder::hold_clock(now_ns_ += 10'000); }

  void open(void*& context, std::uint64_t id, const char* name, int ranks, int rank) {
    tick();
    if constexpr (kVersion == 3) {
      plugin_.init(&context, &mask_);
    } else if constexpr (kVersion == 4) {
      plugin_.init(&context, &mask_, name, id, 1, ranks, rank, nullptr);
    } else {
      plugin_.init(&context, id, &mask_, name, 1, ranks, rank, nullptr);
    }
  }
  void finalize(void* context) {
    tick();
    plugin_.finalize(context);
  }
  static Event of_type(std::uint64_t type, void* parent = nullptr) {
    Event event{};
    event.type = static_cast<decltype(event.type)>(type);
    event.parentObj = parent;
    return event;
  }
  void* start(void* context, Event event) {
    tick();
    void* handle = nullptr;
    plugin_.startEvent(context, &handle, &event);
    return handle;
  }
  void stop(void* handle) {
    tick();
    plugin_.stopEvent(handle);
  }
  void state(void* handle, int number, std::uint64_t argument) {
    tick();
    StateArgs arguments{};
    arguments.kernelCh.pTimer = argument;
    plugin_.recordEventState(handle, number, &arguments);
  }

  Event collective(const char* function, std::uint64_t sequence, int channels, void* parent,
                   void* group) const {
    Event event = of_type(kColl, parent);
    auto& coll = event.coll;
    if constexpr (kVersion == 3) {
      coll.name = "world";
      coll.commHash = 0xA1;
      coll.nMaxChannels = static_cast<std::uint8_t>(channels);
    } else {
      coll.nChannels = static_cast<std::uint8_t>(channels);
    }
    coll.seqNumber = sequence;
    coll.func = function;
    coll.sendBuff = reinterpret_cast<void*>(0x7f00);
    coll.recvBuff = reinterpret_cast<void*>(0x7f08);
    coll.count = 1'000;
    coll.root = 1;
    coll.datatype = "ncclFloat32";
    coll.nWarps = 16;
    coll.algo = "RING";
    coll.proto = "LL128";
    if constexpr (kVersion >= 5) coll.parentGroup = group;
    (void)group;
    return event;
  }
  void* enqueue(void* context, const char* function, std::uint64_t sequence, int channels) {
    Event event = collective(function, sequence, channels, nullptr, nullptr);
    if constexpr (kVersion == 3) event.coll.commHash = context == half_ ? 0xB2 : 0xA1;
    void* const handle = start(context, event);
    stop(handle);
    return handle;
  }
  void* channel(void* context, void* parent, std::uint8_t number, std::int64_t ahead_ns = 0) {
    void* handle = nullptr;
    proxy_.make([&] {
      Event event = of_type(kKernelCh, parent);
      event.kernelCh.channelId = number;
      if constexpr (kVersion > 3) event.kernelCh.pTimer = gpu_timer(ahead_ns);
      handle = start(context, event);
    });
    return handle;
  }
  /// After so long. Timers may be an earlier work's.
  void end(void* channel, std::int64_t lasts_ns, std::int64_t ahead_ns = 0) {
    proxy_.make([&] {
      now_ns_ += lasts_ns;
      state(channel, kStateKernelChStop, gpu_timer(ahead_ns));
      stop(channel);
    });
  }
  /// The GPU's timers have their own clock, and are reported late, the first one with the smallest delay.
  std::uint64_t gpu_timer(std::int64_t ahead_ns) {
    late_ns_ += 1'000;
    return static_cast<std::uint64_t>(now_ns_ + 700'000'000'000'000'000 + ahead_ns - late_ns_);
  }

  void with_network() {
    void* group_api = nullptr;
    void* launch = nullptr;
    void* api = nullptr;
    void* group = nullptr;
    if constexpr (kVersion >= 5) {
      group_api = start(world_, of_type(kGroupApi));
      group = start(world_, of_type(kGroup));
      launch = start(world_, of_type(kKernelLaunch, group_api));
      api = call(group_api, false);
    } else {
      group = start(world_, of_type(kGroup));
    }
    void* const coll = start(world_, collective("AllReduce", 0, 2, kVersion >= 5 ? api : group, group));
    void* const proxy = through_the_network(coll);
    stop(coll);
    for (void* const of_the_host : {launch, api, group, group_api}) {
      if (of_the_host != nullptr) stop(of_the_host);
    }
    first_ = coll;
    first_channel_ = channel(world_, coll, 0);
    void* const second = channel(world_, coll, 1);
    proxy_.make([&] { stop(proxy); });
    if constexpr (kVersion >= 7) phase(second);
    end(second, 0);
    end(first_channel_, 10'000);
  }
  void phase(void* of_channel) {
    proxy_.make([&] {
      Event event = of_type(kKernelPhase, of_channel);
      event.kernelPhase = {1, kPhaseInitialSync, "initial_sync", gpu_timer(0)};
      void* const handle = start(world_, event);
      state(handle, kStateKernelPhaseStop, gpu_timer(0));
      stop(handle);
    });
  }
  void* call(void* parent, bool captured) {
    Event api = of_type(kCollApi, parent);
    auto& call = api.collApi;
    call.func = "AllReduce";
    call.count = 1'000;
    call.datatype = "ncclFloat32";
    call.root = 1;
    call.stream = reinterpret_cast<void*>(0x55);
    call.graphCaptured = captured;
    return start(world_, api);
  }
  static Event of_proxy(void* coll) {
    Event proxy = of_type(kProxyOp, coll);
    proxy.proxyOp = {::getpid(), 0, 1, 4, 512, 1};
    return proxy;
  }
  void* through_the_network(void* coll) {
    Event proxy = of_proxy(coll);
    void* const handle = start(world_, proxy);
    proxy_.make([&] {
      state(handle, 19, 77);
      Event net = of_type(kNetPlugin, start(world_, of_type(kProxyStep, handle)));
      net.netPlugin.id = (kNetSocket << 16) | 1;
      start(world_, net);
      stop(net.parentObj);
      proxy.parentObj = reinterpret_cast<void*>(0x7fffdeadbee0);
      proxy.proxyOp.pid = ::getpid() + 1;
      start(world_, proxy);
      start(world_, of_type(kProxyCtrl));
    });
    return handle;
  }

  void point_to_point() {
    void* handle = nullptr;
    cuda_.make([&] {
      if constexpr (kVersion >= 5) {
        Event api = of_type(kP2pApi);
        api.p2pApi.func = "Send";
        api.p2pApi.count = 1;
        api.p2pApi.datatype = "ncclInt8";
        start(world_, api);
        start(world_, of_type(4096));
      }
      Event event = of_type(kP2p);
      event.p2p.func = "Send";
      event.p2p.datatype = "ncclInt8";
      event.p2p.count = 1;
      if constexpr (kVersion == 3) event.p2p.commHash = 0xA1;
      if constexpr (kVersion > 3) event.p2p.nChannels = 1;
      start(world_, event);  // to itself
      event.p2p.peer = 1;
      handle = start(world_, event);
      stop(handle);
    });
    end(channel(world_, handle, 3), 90'000);
  }

  void what_is_reported_twice() {
    stop(first_channel_);
    channel(world_, first_, 0);
    stop(reinterpret_cast<void*>(0x60000000abcd0001));  // a channel that was never handed out
  }

  void replays_of_a_graph() {
    void* const captured = call(nullptr, true);
    stop(captured);
    for (std::uint64_t sequence = 1; sequence <= 3; ++sequence) {
      cuda_.make([&] {
        void* const coll = start(world_, collective("AllReduce", sequence, 1, captured, nullptr));
        Event kernel = of_type(kKernelCh, coll);
        kernel.kernelCh.pTimer = gpu_timer(sequence < 3 ? -90'000'000 : 0);  // now and then its own
        void* const handle = start(world_, kernel);
        stop(coll);
        state(handle, kStateKernelChStop, gpu_timer(sequence < 3 ? -80'000'000 : 0));
        stop(handle);
      });
    }
  }

  void of_unknown_channels() {
    void* const sharp = enqueue(world_, "AllReduce", 5, 0);
    for (std::uint8_t number = 0; number < 3; ++number) end(channel(world_, sharp, number), 0);
    end(channel(world_, enqueue(world_, "AllReduce", 6, 1), 0), 0);
  }

  typename nccl_recorder::Interface<kVersion>::Plugin& plugin_ = recorder_of<kVersion>();
  std::int64_t now_ns_ = nccl_recorder::kReplayBegins_ns - 10'000;
  std::int64_t late_ns_ = 0;
  static inline int mask_ = 0;  // NCCL has one
  void* world_ = nullptr;
  void* half_ = nullptr;
  void* first_ = nullptr;
  void* first_channel_ = nullptr;
  nccl_recorder::CallingThread proxy_;
  nccl_recorder::CallingThread cuda_;
};

}  // namespace ddbench::nccl
