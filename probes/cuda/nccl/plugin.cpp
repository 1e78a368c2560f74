#include "plugin.h"

#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "ddbench/inject/process_recorder.h"
#include "ddbench/record/clock.h"

namespace ddbench::nccl {
namespace {

constexpr int kAlways =
    static_cast<int>(kGroup | kColl | kP2p | kProxyOp | kKernelCh | kGroupApi | kCollApi | kKernelLaunch);
// One event a chunk of data: only until it is known by what the bytes travel.
constexpr int kTransportProof = static_cast<int>(kProxyStep | kNetPlugin);

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

void Plugin::set_mask(int value) noexcept {
  if (mask_ != nullptr) __atomic_store_n(mask_, value, __ATOMIC_RELAXED);
}

void* Plugin::open(std::uint64_t communicator, int ranks, int rank, int* mask) noexcept try {
  const std::lock_guard lock(mutex_);
  if (communicator != 0) inject::RecorderAccess opens_the_spool(rank);
  mask_ = mask;
  set_mask(wanted_.load());
  ++open_;
  const char* const window_text = std::getenv("DDBENCH_NCCL_WINDOW");
  const auto window = parse_sample_window(or_empty(window_text));
  if (window && windows_ == nullptr) {
    windows_ = std::make_unique<SampleWindows>(*window, [this](bool on) {
      const std::lock_guard mask_lock(mutex_);
      set_mask(on ? wanted_.load() : 0);
    });
  }
  return communicators_.emplace_back(std::make_unique<Communicator>(Communicator{communicator, ranks, rank}))
      .get();
} catch (...) {  // NCCL's program runs on without its measurement
  return nullptr;
}

void* Plugin::start(void* context, const EventStart& event) noexcept try {
  if (context == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  switch (event.type) {
    case kColl:
    case kP2p:
    case kGroupApi:
    case kKernelLaunch: return start_operation(*static_cast<const Communicator*>(context), event);
    // No more than parents; the generation tells them from null.
    case kGroup: return Handle{kGroup, 0, 1, 0}.encoded();
    case kCollApi: return Handle{kCollApi, static_cast<std::uint8_t>(event.captured), 1, 0}.encoded();
    default: return start_child(event);
  }
} catch (...) {
  return nullptr;
}

void* Plugin::start_operation(const Communicator& communicator, const EventStart& event) {
  Operation& oldest = operations_.next();
  if (oldest.communicator != nullptr) finish(oldest);
  Operation operation;
  operation.communicator = &communicator;
  if (event.communicator != 0) operation.communicator = &known(event.communicator, event.rank);
  operation.type = static_cast<EventType>(event.type);
  operation.range = inject::thread_range();
  operation.begin_ns = now_ns();
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
    operation.captured = event.parent != nullptr && parent.type == kCollApi && parent.channel != 0;
  }
  return operations_.take(operation).encoded();
}

const Communicator& Plugin::known(std::uint64_t id, int rank) {
  for (const auto& communicator : communicators_) {
    if (communicator->id == id && communicator->rank == rank) return *communicator;
  }
  return *communicators_.emplace_back(std::make_unique<Communicator>(Communicator{id, 1, rank}));
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
    ++counters_.unpaired;
    return nullptr;
  }
  const std::int64_t at_ns = now_ns();
  switch (event.type) {
    case kKernelCh:
      if (event.timer != 0) clock_.observe(static_cast<std::int64_t>(event.timer), at_ns);
      operation->begin_channel(event.timer, at_ns);
      break;
    case kProxyOp:
      ++operation->proxies;
      ++operation->proxies_open;
      break;
    case kProxyStep: break;
    case kNetPlugin: operation->network = event.network; return nullptr;
    default: return nullptr;
  }
  handle.type = static_cast<EventType>(event.type);
  handle.channel = event.channel;
  return handle.encoded();
}

void Plugin::stop_timer(void* handle, std::uint64_t timer) noexcept {
  const std::lock_guard lock(mutex_);
  Operation* const operation = operations_.find(Handle::decode(handle));
  if (operation == nullptr || timer == 0) return;
  clock_.observe(static_cast<std::int64_t>(timer), now_ns());
  operation->stop_timer(timer);
}

void Plugin::stop(void* encoded) noexcept try {
  if (encoded == nullptr) return;
  const Handle handle = Handle::decode(encoded);
  if (handle.type == kGroup || handle.type == kCollApi) return;
  const std::lock_guard lock(mutex_);
  Operation* const operation = operations_.find(handle);
  if (operation == nullptr) {
    ++counters_.unpaired;
    return;
  }
  switch (handle.type) {
    case kKernelCh: operation->end_channel(now_ns()); break;
    case kProxyOp: --operation->proxies_open; break;
    case kProxyStep: return;
    case kColl:
    case kP2p: operation->enqueued = true; break;
    default: operation->end_ns = now_ns(); return finish(*operation);
  }
  if (operation->complete()) finish(*operation);
} catch (...) {
}

void Plugin::finish(Operation& operation) {
  if (operation.type == kGroupApi || operation.type == kKernelLaunch) {
    const char* const name = operation.type == kGroupApi ? "nccl_group" : "nccl_launch";
    if (operation.end_ns >= operation.begin_ns) {
      record(operation, SpanKind::kHost, name, operation.begin_ns, operation.end_ns);
    }
    return operations_.release(operation);
  }
  if (!operation.ended) {
    counters_.unfinished += !operation.told_all();
    const NcclEvent event{std::string(operation.function), operation.algorithm, operation.protocol,
                          operation.channels_begun, std::string(operation.transport())};
    std::int64_t begin_ns = operation.begin_ns;
    std::int64_t end_ns = operation.end_ns;
    if (operation.begin_timer != 0 && operation.end_timer >= operation.begin_timer && clock_.known()) {
      begin_ns = clock_.to_host(static_cast<std::int64_t>(operation.begin_timer));
      end_ns = clock_.to_host(static_cast<std::int64_t>(operation.end_timer));
    }
    if (operation.channels_begun > 0 && end_ns >= begin_ns) {
      record(operation, SpanKind::kNcclEvent, nccl_event_name(event), begin_ns, end_ns);
    }
    if (operation.network != 0 && !transport_proved_) {
      transport_proved_ = true;
      wanted_.store(kAlways);
      if (windows_ == nullptr) set_mask(kAlways);
    }
    operation.ended = true;
  }
  // A captured one runs again with each replay of its graph.
  if (!operation.captured || &operation == &operations_.next()) operations_.release(operation);
}

void Plugin::record(const Operation& operation, SpanKind kind, const std::string& name, std::int64_t begin_ns,
                    std::int64_t end_ns) {
  const inject::RecorderAccess access(operation.communicator->rank);
  if (access.get() == nullptr) return;
  if (access.generation() != generation_) {
    generation_ = access.generation();
    name_ids_.clear();
    track_ = &access.get()->track(Lane::kDeviceCommunication);
  }
  const auto [id, is_new] = name_ids_.try_emplace(name, 0);
  if (is_new) id->second = access.get()->intern(name);
  const inject::Range& range = operation.range;
  const bool is_engines = range.kind == SpanKind::kCommunication;
  Span span;
  span.kind = kind;
  span.name_id = id->second;
  span.begin_ns = begin_ns;
  span.end_ns = end_ns;
  span.step = range.step;
  if (kind == SpanKind::kNcclEvent) {
    const int function = nccl_function_number(operation.function);
    span.bytes = is_engines && range.bytes != 0 ? range.bytes : operation.bytes;
    span.bucket = is_engines ? range.bucket : kNoBucket;
    const bool has_key = operation.type == kColl && function != 0;
    const std::uint64_t own_key =
        has_key ? collective_key(fold_communicator(operation.communicator->id),
                                 nccl_sequence(function, operation.sequence, operation.round))
                : 0;
    span.correlation = is_engines && range.correlation != 0 ? range.correlation : own_key;
  }
  track_->record(span);
}

void Plugin::close(void* context) noexcept try {
  if (context == nullptr) return;
  const std::lock_guard lock(mutex_);
  const auto* const communicator = static_cast<const Communicator*>(context);
  for (Operation& operation : operations_.all()) {
    const bool is_its = operation.communicator != nullptr && (operation.communicator == communicator ||
                                                              operation.communicator->id == communicator->id);
    if (!is_its) continue;
    finish(operation);
    operations_.release(operation);
  }
  if (--open_ == 0) mask_ = nullptr;  // it lies in NCCL, which may go now
  record_counters();
} catch (...) {
}

void Plugin::record_counters() {
  const inject::RecorderAccess access;
  if (access.get() == nullptr) return;
  // So far, once for each communicator that ended: the last of them counts.
  const std::uint32_t order = closed_++;
  const auto value = [&access, order](const char* name, std::uint64_t count) {
    access.get()->record_scalar(name, order, static_cast<double>(count));
  };
  value("nccl.events", counters_.events);
  value("nccl.unfinished", counters_.unfinished);
  value("nccl.unpaired", counters_.unpaired);
  value("nccl.foreign_proxies", counters_.foreign_proxies);
  value("nccl.unknown_functions", counters_.unknown_functions);
  access.get()->flush();  // programs often end in haste after their communicators
}

PluginCounters Plugin::counters() noexcept {
  const std::lock_guard lock(mutex_);
  return counters_;
}

}  // namespace ddbench::nccl
