#include "probes/nccl/plugin.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include "core/clock.h"
#include "core/nccl_event.h"
#include "probes/nccl/operation_flights.h"
#include "probes/preload/session/nccl_plugin.h"
#include "probes/preload/session/process_recorder.h"

namespace ddbench::nccl {
namespace {

constexpr int kAlways = static_cast<int>(kGroup | kColl | kP2p | kProxyOp | kKernelCh | kGroupApi | kCollApi |
                                         kP2pApi | kKernelLaunch);
// One event per chunk of data: only until the transport of the bytes is known, or it is known that this NCCL
// does not report it, as most builds do not (NCCL_ENABLE_NET_PROFILING).
constexpr int kTransportProof = static_cast<int>(kProxyStep | kNetPlugin);
constexpr int kOperationsForProof = 16;
// NCCL reports an operation after it has launched the kernel, which may already be running.
constexpr std::int64_t kLaunchedBefore_ns = 200'000;
constexpr std::int64_t kToldWithin_ns = 20'000'000;  // many turns of NCCL's proxy thread

bool is_api_call(EventType type) noexcept {
  return type == kCollApi || type == kP2pApi;
}

const char* or_empty(const char* text) noexcept {
  return text != nullptr ? text : "";
}

/// As nccl-tests count them: of all ranks where NCCL counts those of one.
std::uint64_t bytes_of(const Communicator& communicator, std::string_view function, const EventStart& event) {
  const std::uint64_t own = event.count * size_of_type(or_empty(event.datatype));
  const bool is_share = function == "all_gather" || function == "reduce_scatter" || function == "all_to_all";
  return is_share ? own * static_cast<std::uint64_t>(communicator.ranks) : own;
}

}  // namespace

Plugin& Plugin::instance() noexcept {
  static Plugin* const plugin = new Plugin;
  return *plugin;
}

Plugin::Plugin() : wanted_(kAlways | kTransportProof) {}

void Plugin::apply_mask() noexcept {
  const int value = paused_ || !window_is_on_ ? 0 : wanted_;
  if (mask_ != nullptr) __atomic_store_n(mask_, value, __ATOMIC_RELAXED);
}

void* Plugin::open(std::uint64_t communicator, int ranks, int rank, int* mask) noexcept try {
  static constexpr inject::NcclPlugin kEntries{[]() noexcept { instance().conclude(); },
                                               [](bool paused) noexcept { instance().pause(paused); }};
  inject::set_nccl_plugin(&kEntries);
  const std::lock_guard lock(mutex_);
  mask_ = mask;
  apply_mask();
  ++open_;
  const char* const window_text = std::getenv("DDBENCH_NCCL_WINDOW");
  const auto window = parse_sample_window(or_empty(window_text));
  if (window && windows_ == nullptr) {
    windows_ = std::make_unique<SampleWindows>(*window, [this](bool on) {
      const std::lock_guard mask_lock(mutex_);
      window_is_on_ = on;
      apply_mask();
    });
  }
  Communicator& opened =
      *communicators_.emplace_back(std::make_unique<Communicator>(Communicator{communicator, ranks, rank, {}}));
  if (communicator != 0) recorded_.communicator(opened);  // not reported in version 3
  return &opened;
} catch (...) {  // NCCL's program runs on without its measurement
  return nullptr;
}

void Plugin::pause(bool paused) noexcept {
  std::unique_lock lock(mutex_);
  if (paused && !paused_) wait_until_told(lock);
  paused_ = paused;
  apply_mask();
}

/// NCCL's proxy thread reports a kernel's end some time after it: waits for that, up to the limit. The caller
/// has waited for the GPU. An operation not reported in time is not waited for again.
void Plugin::wait_until_told(std::unique_lock<std::mutex>& lock) noexcept {
  const std::int64_t until_ns = now_ns() + kToldWithin_ns;
  const auto is_awaited = [](const Operation& operation) {
    const bool is_task = operation.type == kColl || operation.type == kP2p;
    return operation.communicator != nullptr && is_task && !operation.told_late &&
           operation.enqueued_end_ns != 0 && !operation.told_all();
  };
  const auto& all = operations_.all();
  while (std::any_of(all.begin(), all.end(), is_awaited)) {
    if (now_ns() > until_ns) {
      for (Operation& operation : operations_.all()) operation.told_late |= is_awaited(operation);
      return;
    }
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    lock.lock();
  }
}

void* Plugin::start(void* context, const EventStart& event) noexcept try {
  if (context == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  switch (event.type) {
    case kColl:
    case kP2p:
    case kGroupApi:
    case kKernelLaunch: return start_operation(*static_cast<Communicator*>(context), event);
    // Groups are only parents; the generation distinguishes the handle from null.
    case kGroup: return Handle{kGroup, 0, 1, 0}.encoded();
    case kCollApi:
    case kP2pApi:
      return Handle{static_cast<EventType>(event.type), static_cast<std::uint8_t>(event.captured), 1, 0}
          .encoded();
    default: return start_child(event);
  }
} catch (...) {
  return nullptr;
}

void* Plugin::start_operation(Communicator& communicator, const EventStart& event) {
  Operation& oldest = operations_.next();
  if (oldest.communicator != nullptr) finish(oldest);
  Operation operation;
  operation.communicator = &communicator;
  if (event.communicator != 0) operation.communicator = &known(event.communicator, event.rank);
  operation.type = static_cast<EventType>(event.type);
  operation.enqueued_ns = now_ns();
  if (event.type == kColl || event.type == kP2p) {
    ++counters_.events;
    operation.function = nccl_function(or_empty(event.function));
    if (operation.function.empty()) ++counters_.unknown_functions;
    operation.algorithm = or_empty(event.algorithm);
    operation.protocol = or_empty(event.protocol);
    operation.bytes = bytes_of(communicator, operation.function, event);
    operation.sequence = event.sequence;
    operation.channels = event.channels;
    const Handle parent = Handle::decode(event.parent);
    operation.captured = event.parent != nullptr && is_api_call(parent.type) && parent.channel != 0;
  }
  // A replay is reported on one of CUDA's threads, which has no range.
  if (!operation.captured) operation.range = inject::thread_range();
  if (operation.type == kColl && !operation.captured) begin_flight(operation);
  return operations_.take(operation).encoded();
}

Communicator& Plugin::known(std::uint64_t id, int rank) {
  for (const auto& communicator : communicators_) {
    if (communicator->id == id && communicator->rank == rank) return *communicator;
  }
  return *communicators_.emplace_back(std::make_unique<Communicator>(Communicator{id, 1, rank, {}}));
}

void* Plugin::start_child(const EventStart& event) {
  // A proxy works for the ranks of other processes, too; their handles mean nothing here.
  if (event.type == kProxyOp && event.pid != ::getpid()) {
    ++counters_.foreign_proxies;
    return nullptr;
  }
  if (event.parent == nullptr) return nullptr;
  Handle handle = Handle::decode(event.parent);
  Operation* const operation = operations_.find(handle);
  if (operation == nullptr) {
    counters_.unpaired += event.type == kKernelCh || event.type == kProxyOp;  // steps end after the kernel
    return nullptr;
  }
  switch (event.type) {
    case kKernelCh: begin_channel(*operation, handle, event.timer); break;
    case kProxyOp: ++operation->proxies; break;
    case kProxyStep: break;
    case kNetPlugin: operation->network = event.network; return nullptr;
    default: return nullptr;
  }
  handle.type = static_cast<EventType>(event.type);
  handle.channel = event.channel;
  return handle.encoded();
}

void Plugin::begin_channel(Operation& operation, const Handle& handle, std::uint64_t timer) {
  const std::int64_t at_ns = now_ns();
  if (operation.channels_begun == 0) {
    Handle& newest = operation.communicator->newest;
    if (Operation* const older = operations_.find(newest)) {
      older->newer_began = true;
      if (older->complete()) finish(*older);
    }
    newest = handle;
  }
  operation.begin_channel(own_timer(operation, timer, at_ns), at_ns);
}

/// NCCL finds a timer by counting works, on the host and on the GPU. The host falls behind where a replayed
/// graph, a pause or a send to oneself is not counted: the timer is then one of an earlier work. 0 for such.
std::uint64_t Plugin::own_timer(Operation& operation, std::uint64_t timer, std::int64_t at_ns) {
  if (timer == 0) return 0;
  const auto device_ns = static_cast<std::int64_t>(timer);
  const bool is_before =
      clock_.known() && clock_.latest(device_ns, at_ns) < operation.enqueued_ns - kLaunchedBefore_ns;
  if (operation.captured || is_before) {
    operation.untimed = true;
    return 0;
  }
  clock_.observe(device_ns, at_ns);
  return timer;
}

void Plugin::stop_timer(void* handle, std::uint64_t timer) noexcept {
  const std::lock_guard lock(mutex_);
  Operation* const operation = operations_.find(Handle::decode(handle));
  if (operation != nullptr) operation->stop_timer(own_timer(*operation, timer, now_ns()));
}

void Plugin::stop(void* encoded) noexcept try {
  if (encoded == nullptr) return;
  const Handle handle = Handle::decode(encoded);
  if (handle.type == kGroup || is_api_call(handle.type)) return;
  if (handle.type == kProxyOp || handle.type == kProxyStep) return;  // at the latest after the kernel
  const std::lock_guard lock(mutex_);
  Operation* const operation = operations_.find(handle);
  if (operation == nullptr) {
    ++counters_.unpaired;
    return;
  }
  switch (handle.type) {
    case kKernelCh: operation->end_channel(now_ns()); break;
    case kColl:
    case kP2p: operation->enqueued_end_ns = now_ns(); break;
    default: operation->end_ns = now_ns(); return finish(*operation);
  }
  if (operation->flight != 0 && operation->told_all()) end_flight(*operation);
  if (operation->complete()) finish(*operation);
} catch (...) {
}

void Plugin::finish(Operation& operation) {
  if (operation.flight != 0 && operation.newer_began) end_flight(operation);  // one after another
  if (operation.type == kColl || operation.type == kP2p) {
    counters_.unfinished += !operation.told_all();
    prove_transport(operation);
    counters_.untimed += operation.untimed;
    recorded_.event(operation, clock_);
  } else {
    recorded_.call(operation);
  }
  operations_.release(operation);
}

void Plugin::prove_transport(const Operation& operation) noexcept {
  if (wanted_ == kAlways) return;
  with_proxies_ += operation.proxies > 0;
  if (operation.network == 0 && with_proxies_ < kOperationsForProof) return;
  wanted_ = kAlways;
  apply_mask();
}

/// Those of all communicators where none is given.
void Plugin::finish_all(const Communicator* communicator) {
  for (Operation& operation : operations_.all()) {
    if (operation.communicator == nullptr) continue;
    if (communicator == nullptr || operation.communicator == communicator) finish(operation);
  }
}

void Plugin::close(void* context) noexcept try {
  if (context == nullptr) return;
  const std::lock_guard lock(mutex_);
  // With the last one end those that only events of version 3 have named.
  const bool is_last = --open_ == 0;
  finish_all(is_last ? nullptr : static_cast<const Communicator*>(context));
  if (is_last) mask_ = nullptr;  // it lies in NCCL, which may go now
  recorded_.counters(counters_);
} catch (...) {
}

void Plugin::conclude() noexcept try {
  std::unique_lock lock(mutex_);
  wait_until_told(lock);
  finish_all(nullptr);
  recorded_.counters(counters_);
} catch (...) {
}

}  // namespace ddbench::nccl
