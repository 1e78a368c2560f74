#include "probes/nccl/operation_spans.h"

#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "core/facts/facts.h"
#include "core/name_table.h"
#include "core/nccl_event.h"
#include "probes/preload/session/process_recorder.h"

namespace ddbench::nccl {
namespace {

Span timed(const Operation& operation, const DeviceClock& clock) {
  Span span;
  span.kind = SpanKind::kNcclEvent;
  span.begin_ns = operation.begin_ns;
  span.end_ns = operation.end_ns;
  if (operation.untimed || !operation.with_kernels) {
    const bool is_of_a_group = operation.group_ns != 0 && !operation.captured;
    span.begin_ns = span.end_ns = is_of_a_group ? operation.group_ns : operation.enqueued_ns;
  } else if (operation.begin_timer != 0 && operation.end_timer >= operation.begin_timer) {
    span.begin_ns = clock.to_host(static_cast<std::int64_t>(operation.begin_timer));
    span.end_ns = clock.to_host(static_cast<std::int64_t>(operation.end_timer));
  }
  return span;
}

/// What NCCL found in its environment, which whoever started the rank, and the rank, may have changed. As
/// reported facts.
void record_settings(host::Recorder& recorder) {
  const char* const log = std::getenv("NCCL_DEBUG_FILE");
  const std::string_view file = log != nullptr ? log : "";
  const bool logs_for_ddbench = file.ends_with(kNcclLogSuffix) || file.starts_with(kNcclLogInMemory);
  constexpr std::string_view kPrefix = "NCCL_";
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view setting(*entry);
    const std::size_t equals = setting.find('=');
    if (!setting.starts_with(kPrefix) || equals == std::string_view::npos) continue;
    const std::string name(setting.substr(0, equals));
    // The plug-in's own settings (its path, and ddbench's NCCL log) do not distinguish two runs.
    if (name == "NCCL_PROFILER_PLUGIN" || (logs_for_ddbench && name.starts_with("NCCL_DEBUG"))) continue;
    recorder.intern(
        reported(fact_key_of<"nccl.NCCL_*">(name.substr(kPrefix.size())), setting.substr(equals + 1)));
  }
}

}  // namespace

void OperationSpans::event(const Operation& operation, const DeviceClock& clock) {
  // A recorder that took over (a fork) does not know it yet.
  Communicator& own = *operation.communicator;
  if (own.reported_to != 0 && own.reported_to != inject::recorder_generation()) communicator(own);
  Span span = timed(operation, clock);
  const inject::Range& range = operation.range;
  const bool is_engines = range.kind == SpanKind::kCommunication;
  span.bytes = is_engines && range.bytes != 0 ? range.bytes : operation.bytes;
  span.bucket = is_engines ? range.bucket : kNoBucket;
  const int function = nccl_function_number(operation.function);
  if (is_engines && range.correlation != 0) {
    span.correlation = range.correlation;
  } else if (operation.type == kColl && function != 0) {
    span.correlation = collective_key(fold_communicator(operation.communicator->id),
                                      nccl_sequence(function, operation.sequence));
  }
  // For a captured operation, the enqueueing is the graph's launch.
  if (!operation.captured && operation.enqueued_end_ns != 0) {
    Span enqueueing = span;
    enqueueing.kind = SpanKind::kHost;
    enqueueing.begin_ns = operation.enqueued_ns;
    enqueueing.end_ns = operation.enqueued_end_ns;
    record(enqueueing, operation, "nccl_enqueue");
  }
  if ((operation.channels_begun == 0 && operation.with_kernels) || span.end_ns < span.begin_ns) return;
  const int channels = operation.with_kernels ? operation.channels_begun : operation.channels;
  const NcclEvent event{std::string(operation.function), operation.algorithm, operation.protocol, channels,
                        std::string(operation.transport())};
  record(span, operation, nccl_event_name(event));
  if (operation.has_phases() && operation.initial_sync_end > operation.begin_timer) {
    span.end_ns = span.begin_ns + static_cast<std::int64_t>(operation.initial_sync_end - operation.begin_timer);
    record(span, operation, std::string(kNcclInitialSync));
  }
}

void OperationSpans::call(const Operation& operation) {
  if (operation.end_ns == 0) return;  // it did not come back
  Span span;
  span.kind = SpanKind::kHost;
  span.begin_ns = operation.enqueued_ns;
  span.end_ns = operation.end_ns;
  record(span, operation, operation.type == kGroupApi ? "nccl_group" : "nccl_launch");
}

void OperationSpans::record(Span span, const Operation& operation, const std::string& name) {
  const inject::RecorderAccess access(operation.communicator->rank);
  if (access.get() == nullptr) return;
  if (access.generation() != generation_) {
    generation_ = access.generation();
    name_ids_.clear();
    device_ = &access.get()->track(Lane::kDeviceCommunication);
    host_ = &access.get()->track(Lane::kMain);
    record_settings(*access.get());
    reported_no_kernels_ = {};
  }
  if (why_no_kernels_ != reported_no_kernels_) {
    reported_no_kernels_ = why_no_kernels_;
    if (!why_no_kernels_.empty()) {
      access.get()->intern(reported(fact_key<"nccl.no_kernel_events">, why_no_kernels_));
    }
  }
  const auto [id, is_new] = name_ids_.try_emplace(name, 0);
  if (is_new) id->second = access.get()->intern(name);
  span.name_id = id->second;
  span.step = operation.range.step;
  (span.kind == SpanKind::kHost ? host_ : device_)->record(span);
}

void OperationSpans::communicator(Communicator& communicator) {
  const inject::RecorderAccess access(communicator.rank);
  if (access.get() == nullptr) return;
  if (access.generation() != std::exchange(reported_to_, access.generation())) most_ranks_ = 0;
  communicator.reported_to = access.generation();
  access.get()->intern(communicator_size_name({fold_communicator(communicator.id), communicator.ranks}));
  if (communicator.ranks <= most_ranks_) return;
  most_ranks_ = communicator.ranks;
  access.get()->intern(std::string(kNcclRanksName) + std::to_string(communicator.ranks));
}

void OperationSpans::counters(const PluginCounters& counters) {
  const inject::RecorderAccess access;
  if (access.get() == nullptr) return;
  // So far, each time that a communicator or the recorder ends: the last of them counts.
  const std::uint32_t order = reported_++;
  const auto value = [&access, order](const char* name, std::uint64_t count) {
    access.get()->record_scalar(name, order, static_cast<double>(count));
  };
  value("nccl.events", counters.events);
  value("nccl.unfinished", counters.unfinished);
  value("nccl.untimed", counters.untimed);
  value("nccl.unpaired", counters.unpaired);
  value("nccl.foreign_proxies", counters.foreign_proxies);
  value("nccl.unknown_functions", counters.unknown_functions);
  value("nccl.unknown_bytes", counters.unknown_bytes);
  value("nccl.with_phases", counters.with_phases);
  value("nccl.initial_sync_ns", counters.initial_sync_ns);
  value("nccl.final_sync_ns", counters.final_sync_ns);
  access.get()->flush();  // programs often end in haste after their communicators
}

}  // namespace ddbench::nccl
