// What NCCL reports to its plug-in, and what becomes of it.
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/clock.h"
#include "core/nccl_event.h"
#include "probes/nccl/operation_flights.h"
#include "probes/nccl/plugin.h"
#include "probes/preload/session/live_progress.h"
#include "probes/preload/session/nccl_plugin.h"
#include "probes/preload/session/thread_range.h"

namespace ddbench::nccl {
namespace {

constexpr int kOperationsForProof = 16;  // of the transport (wanted_events.cpp)
// NCCL reports an operation after it has launched the kernel, which may already be running.
constexpr std::int64_t kLaunchedBefore_ns = 200'000;

bool is_api_call(EventType type) noexcept {
  return type == kCollApi || type == kP2pApi;
}

const char* text_or_empty(const char* text) noexcept {
  return text != nullptr ? text : "";
}

/// As nccl-tests count them: of all ranks where NCCL counts those of one. Nothing where it is not known how
/// many ranks there are.
std::optional<std::uint64_t> bytes_of(const Communicator& communicator, std::string_view function,
                                      const EventStart& event) {
  const std::uint64_t own = event.count * size_of_type(text_or_empty(event.datatype));
  const bool is_share = function == "all_gather" || function == "reduce_scatter" || function == "all_to_all";
  if (is_share && communicator.ranks == 0) return std::nullopt;
  return is_share ? own * static_cast<std::uint64_t>(communicator.ranks) : own;
}

}  // namespace

void* Plugin::start(void* context, const EventStart& event) noexcept try {
  if (context == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  switch (event.type) {
    case kColl:
    case kP2p:
    case kGroupApi:
    case kKernelLaunch: return start_operation(*static_cast<Communicator*>(context), event);
    case kGroup:  // a launch of a kernel; numbers are never 0, which distinguishes the handle from null
      if (++groups_ == 0) ++groups_;
      return Handle{kGroup, 0, groups_, 0}.encoded();
    case kCollApi:
    case kP2pApi: return start_api(event);
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
  if (operation.type == kGroupApi) {
    follow_graphs(event.captured);
    return operations_.take(operation).encoded();
  }
  if (operation.type == kKernelLaunch) return operations_.take(operation).encoded();
  describe(operation, event);
  place_in_group(operation, event);
  // A replay is reported on one of CUDA's threads, which has no range.
  if (!operation.captured) operation.range = inject::thread_range();
  Communicator& own = *operation.communicator;
  end_open_flight(own);
  if (operation.type == kColl && !operation.captured) begin_flight(operation);
  // Without events of its end, the newest collective of the communicator stays under way in the flight recorder until the next one.
  if (!operation.with_kernels && operation.flight != 0) {
    inject::note_flight_end_unknown(operation.flight);
    own.open_flight = std::exchange(operation.flight, 0);
  }
  own.last = operations_.take(operation);
  own.waiting.push_back(own.last);
  return own.last.encoded();
}

/// An operation's call. Its operations take the events that were asked for when it was made.
void* Plugin::start_api(const EventStart& event) {
  const bool with_kernels = kernels_report();
  follow_graphs(event.captured);
  std::uint8_t flags = event.captured ? Handle::kCaptured : 0;
  if (with_kernels) flags |= Handle::kWithKernels;
  return Handle{static_cast<EventType>(event.type), flags, 1, 0}.encoded();
}

/// CUPTI may have begun since the communicator did, and a program may begin to capture graphs.
void Plugin::follow_graphs(bool captured) {
  if (conditions_.captures_graphs >= captured &&
      conditions_.kernels_are_recorded == inject::kernels_are_recorded()) {
    return;
  }
  conditions_.captures_graphs |= captured;
  apply_mask();
}

void Plugin::describe(Operation& operation, const EventStart& event) {
  ++counters_.events;
  operation.function = nccl_function(text_or_empty(event.function));
  if (operation.function.empty()) ++counters_.unknown_functions;
  operation.algorithm = text_or_empty(event.algorithm);
  operation.protocol = text_or_empty(event.protocol);
  const auto bytes = bytes_of(*operation.communicator, operation.function, event);
  operation.bytes = bytes.value_or(0);
  counters_.unknown_bytes += !bytes;
  operation.sequence = event.sequence;
  operation.channels = event.channels;
  const Handle parent = Handle::decode(event.parent);
  const bool has_call = event.parent != nullptr && is_api_call(parent.type);
  operation.captured = has_call && (parent.channel & Handle::kCaptured) != 0;
  operation.with_kernels = has_call ? (parent.channel & Handle::kWithKernels) != 0 : kernels_report();
  // Of the collectives of a symmetric kernel, only the first has channels.
  if (event.symmetric && event.channels == 0) operation.with_kernels = false;
}

/// Operations of one kernel of which only the enqueueing is known were enqueued at one time: that of the
/// first.
void Plugin::place_in_group(Operation& operation, const EventStart& event) {
  const Handle group = Handle::decode(event.group);
  if (event.group == nullptr || group.type != kGroup) return;
  operation.group = group.generation;
  Communicator& own = *operation.communicator;
  if (own.group != operation.group) own.group_ns = operation.enqueued_ns;
  own.group = operation.group;
  operation.group_ns = own.group_ns;
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
    case kKernelPhase: operation->phase_begin = event.timer; break;
    case kProxyStep: break;
    case kNetPlugin: operation->network = event.network; return nullptr;
    default: return nullptr;
  }
  handle.type = static_cast<EventType>(event.type);
  handle.channel = event.type == kKernelPhase ? event.phase : event.channel;
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

void Plugin::stop_phase(void* handle, std::uint64_t timer) noexcept {
  const std::lock_guard lock(mutex_);
  const Handle decoded = Handle::decode(handle);
  Operation* const operation = operations_.find(decoded);
  if (decoded.type != kKernelPhase || operation == nullptr) return;
  operation->end_phase(decoded.channel, timer);
}

void Plugin::stop(void* encoded) noexcept try {
  if (encoded == nullptr) return;
  const Handle handle = Handle::decode(encoded);
  if (handle.type == kGroup || is_api_call(handle.type)) return;
  // They end at the latest with the kernel.
  if (handle.type == kProxyOp || handle.type == kProxyStep || handle.type == kKernelPhase) return;
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
  if (operation->flight != 0 && operation->all_reported()) end_flight(*operation);
  if (!operation->complete()) return;
  end_older(*operation);
  finish(*operation);
} catch (...) {
}

/// The kernels of a communicator run one after the other: of those before one that is complete nothing will
/// follow, though NCCL counts channels for sends and receives that it never starts, as their part is empty.
void Plugin::end_older(const Operation& newer) {
  if (!newer.with_kernels || newer.captured) return;
  std::deque<Handle>& waiting = newer.communicator->waiting;
  std::size_t at = 0;
  while (at < waiting.size()) {
    Operation* const older = operations_.find(waiting[at]);
    if (older == nullptr || older == &newer) return;
    const bool is_beside = older->group != 0 && older->group == newer.group;
    if (!is_beside) older->newer_ended = true;
    if (!is_beside && older->complete()) {
      finish(*older);  // and it waits no longer
    } else {
      ++at;
    }
  }
}

void Plugin::finish(Operation& operation) {
  if (operation.flight != 0 && operation.newer_began) end_flight(operation);  // one after another
  if (operation.type == kColl || operation.type == kP2p) {
    counters_.unfinished += !operation.all_reported();
    prove_transport(operation);
    counters_.untimed += operation.untimed || (!operation.with_kernels && !conditions_.kernels_are_recorded);
    note_phases(operation);
    recorded_.event(operation, clock_);
  } else {
    recorded_.call(operation);
  }
  // Most end in their order: it is the first.
  std::deque<Handle>& waiting = operation.communicator->waiting;
  const std::uint32_t slot = operations_.slot_of(operation);
  const auto own = std::find_if(waiting.begin(), waiting.end(),
                                [slot](const Handle& other) { return other.slot == slot; });
  if (own != waiting.end()) waiting.erase(own);
  operations_.release(operation);
}

/// The split of a symmetric kernel's time, on the GPU's own clock.
void Plugin::note_phases(const Operation& operation) noexcept {
  if (!operation.has_phases()) return;
  ++counters_.with_phases;
  if (operation.initial_sync_end > operation.begin_timer) {
    counters_.initial_sync_ns += operation.initial_sync_end - operation.begin_timer;
  }
  if (operation.final_sync_begin != 0 && operation.end_timer > operation.final_sync_begin) {
    counters_.final_sync_ns += operation.end_timer - operation.final_sync_begin;
  }
}

void Plugin::prove_transport(const Operation& operation) noexcept {
  if (conditions_.transport_is_known) return;
  with_proxies_ += operation.proxies > 0;
  if (operation.network == 0 && with_proxies_ < kOperationsForProof) return;
  conditions_.transport_is_known = true;
  apply_mask();
}

}  // namespace ddbench::nccl
