#include "probes/cupti/activity_spans.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "core/program/device_span.h"
#include "core/nccl_event.h"

namespace ddbench::cuda {
namespace {

constexpr std::size_t kMostCalls = 1u << 18;
constexpr std::size_t kMostHeld = 1u << 15;
constexpr std::size_t kMostOpenMarkers = 1u << 12;
constexpr std::size_t kMostUnknownKernels = 32;
constexpr std::string_view kPeerCopy = "memcpy_peer";
constexpr std::string_view kWholeGraph = "graph";

template <typename Record>
const Record& as(const CUpti_Activity& record) {
  return reinterpret_cast<const Record&>(record);
}

/// With its direction. CUPTI's peer copies are those between GPUs.
std::string_view copy_name(std::uint8_t copy_kind) {
  switch (copy_kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA: return "memcpy_to_device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH: return "memcpy_to_host";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD: return "memcpy_on_device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH: return "memcpy_on_host";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP: return kPeerCopy;
    default: return "memcpy";
  }
}

/// With any bits: those that this version's header does not name are no value of its enumeration.
std::uint32_t flags_of(const MarkerRecord& marker) {
  std::uint32_t flags = 0;
  static_assert(sizeof flags == sizeof marker.flags);
  std::memcpy(&flags, &marker.flags, sizeof flags);
  return flags;
}

/// A kernel in a range keeps the range's kind where that is something that a kernel can be.
SpanKind kind_in(SpanKind range) {
  return is_compute(range) || range == SpanKind::kCopy ? range : SpanKind::kCompute;
}

}  // namespace

ActivitySpans::ActivitySpans(Ranges ranges, Collectives collectives, Nodes nodes, ApiName api_name, Sink sink)
    : ranges_(std::move(ranges)),
      collectives_(std::move(collectives)),
      nodes_(std::move(nodes)),
      api_name_(std::move(api_name)),
      sink_(std::move(sink)) {}

void ActivitySpans::convert(std::span<const CUpti_Activity* const> records) {
  counters_.records += records.size();
  if (add_calls(records)) release_held(false);
  for (const CUpti_Activity* const record : records) convert_record(*record);
}

void ActivitySpans::finish() {
  release_held(true);
}

void ActivitySpans::note_call(std::uint32_t call, std::uint64_t external_id) {
  if (calls_.size() >= kMostCalls) {
    older_calls_ = std::move(calls_);
    calls_.clear();
  }
  calls_[call] = external_id;
}

const std::uint64_t* ActivitySpans::find_call(std::uint32_t call) const {
  const auto found = calls_.find(call);
  if (found != calls_.end()) return &found->second;
  const auto older = older_calls_.find(call);
  return older != older_calls_.end() ? &older->second : nullptr;
}

/// Processes the host's calls in this buffer before the device's work for them. A call's range directly
/// precedes it.
bool ActivitySpans::add_calls(std::span<const CUpti_Activity* const> records) {
  bool any = false;
  for (const CUpti_Activity* const record : records) {
    if (record->kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) {
      const auto& range = as<CUpti_ActivityExternalCorrelation>(*record);
      if (range.externalKind != CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0) continue;
      ranges_in_use_ = true;
      note_call(range.correlationId, range.externalId);
      any = true;
    } else if (record->kind == CUPTI_ACTIVITY_KIND_RUNTIME || record->kind == CUPTI_ACTIVITY_KIND_DRIVER) {
      const auto& call = as<CUpti_ActivityAPI>(*record);
      if (!ranges_in_use_ || find_call(call.correlationId) != nullptr) continue;
      note_call(call.correlationId, 0);
      any = true;
    }
  }
  return any;
}

void ActivitySpans::convert_record(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return convert_kernel(as<KernelRecord>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return convert_copy(as<MemcpyRecord>(record), as<MemcpyRecord>(record).bytes,
                          copy_name(as<MemcpyRecord>(record).copyKind));
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return convert_copy(as<PeerCopyRecord>(record), as<PeerCopyRecord>(record).bytes, kPeerCopy);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return convert_copy(as<MemsetRecord>(record), as<MemsetRecord>(record).bytes, "memset");
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: return convert_graph(as<GraphRecord>(record));
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: return convert_api(as<CUpti_ActivityAPI>(record));
    case CUPTI_ACTIVITY_KIND_MARKER: return convert_marker(as<MarkerRecord>(record));
    case CUPTI_ACTIVITY_KIND_OVERHEAD: {
      const auto& overhead = as<OverheadRecord>(record);
      if (overhead.end > overhead.start) counters_.overhead_ns += overhead.end - overhead.start;
      return;
    }
    default: return;
  }
}

bool ActivitySpans::set_times(Span& span, std::uint64_t begin_ns, std::uint64_t end_ns) {
  if (begin_ns == 0 || end_ns == 0 || end_ns < begin_ns) {
    ++counters_.invalid_times;
    return false;
  }
  span.begin_ns = static_cast<std::int64_t>(begin_ns) + clock_offset_ns_;
  span.end_ns = static_cast<std::int64_t>(end_ns) + clock_offset_ns_;
  return true;
}

void ActivitySpans::convert_kernel(const KernelRecord& kernel) {
  Work work;
  work.name = kernel.name != nullptr ? kernel.name : "kernel";
  const auto function = nccl_kernel_function(work.name);
  if (function && function->empty()) {
    std::vector<std::string>& unknown = counters_.unknown_kernels;
    const bool is_new = std::find(unknown.begin(), unknown.end(), work.name) == unknown.end();
    if (is_new && unknown.size() < kMostUnknownKernels) unknown.emplace_back(work.name);
  }
  if (!set_times(work.span, kernel.start, kernel.end)) return;
  work.span.reserved = device_queue(kernel.deviceId, kernel.streamId);
  work.call = kernel.correlationId;
  work.node = kernel.graphNodeId;
  work.is_communication = function.has_value();
  work.span.kind = work.is_communication ? SpanKind::kCommunication : SpanKind::kCompute;
  work.span.lane = work.is_communication ? Lane::kDeviceCommunication : Lane::kDeviceCompute;
  if (function && !function->empty()) work.name = *function;
  add_work(work);
}

template <typename Record>
void ActivitySpans::convert_copy(const Record& copy, std::uint64_t bytes, std::string_view name) {
  Work work;
  if (!set_times(work.span, copy.start, copy.end)) return;
  work.name = name;
  work.span.reserved = device_queue(copy.deviceId, copy.streamId);
  work.call = copy.correlationId;
  work.node = copy.graphNodeId;
  work.span.kind = SpanKind::kCopy;
  work.span.lane = Lane::kDeviceCompute;
  work.span.bytes = bytes;
  add_work(work);
}

/// A graph whose nodes are not recorded one by one: compute, as what it does of other kinds is not known.
void ActivitySpans::convert_graph(const GraphRecord& graph) {
  Work work;
  if (!set_times(work.span, graph.start, graph.end)) return;
  work.name = kWholeGraph;
  work.call = graph.correlationId;
  work.is_graph = true;
  work.span.reserved = device_queue(graph.deviceId, graph.streamId);
  work.span.kind = SpanKind::kCompute;
  work.span.lane = Lane::kDeviceCompute;
  add_work(work);
}

void ActivitySpans::convert_api(const CUpti_ActivityAPI& call) {
  Work work;
  if (!set_times(work.span, call.start, call.end)) return;
  work.name = api_name_(call);
  work.call = call.correlationId;
  work.span.kind = SpanKind::kHost;
  if (work.name.find("Synchronize") != std::string_view::npos) work.span.bucket = kDeviceWait;
  add_work(work);
}

/// An NVTX range has a record at its begin and one at its end, with the same id.
void ActivitySpans::convert_marker(const MarkerRecord& marker) {
  const std::uint32_t flags = flags_of(marker);
  if ((flags & CUPTI_ACTIVITY_FLAG_MARKER_START) != 0) {
    if (open_markers_.size() < kMostOpenMarkers) open_markers_.insert_or_assign(marker.id, marker);
    return;
  }
  const auto begin = open_markers_.find(marker.id);
  if ((flags & CUPTI_ACTIVITY_FLAG_MARKER_END) == 0 || begin == open_markers_.end()) return;
  Span span;
  span.kind = SpanKind::kHost;
  const char* const name = begin->second.name;
  if (set_times(span, begin->second.timestamp, marker.timestamp)) {
    ++counters_.spans;
    sink_(span, name != nullptr ? name : "nvtx");
  }
  open_markers_.erase(begin);
}

void ActivitySpans::add_work(const Work& work) {
  if (!ranges_in_use_) return emit(work, 0);
  if (const std::uint64_t* const external_id = find_call(work.call)) return emit(work, *external_id);
  held_.push_back(work);
  if (held_.size() <= kMostHeld) return;
  ++counters_.without_range;
  emit(held_.front(), 0);
  held_.pop_front();
}

/// What a graph does, it was captured for in ranges of its own; the pushed one is about its launch.
Range ActivitySpans::range_of(const Work& work, const Range& pushed) {
  if (work.node == 0) return pushed;
  const Range* const captured = nodes_(work.node);
  if (captured == nullptr) {
    ++counters_.without_range;
    return pushed;
  }
  Range range = *captured;
  range.step = pushed.step;
  range.correlation += pushed.correlation;
  return range;
}

void ActivitySpans::become_communication(Work& work) {
  work.is_communication = true;
  work.span.kind = SpanKind::kCommunication;
  work.span.lane = Lane::kDeviceCommunication;
}

void ActivitySpans::emit(Work work, std::uint64_t external_id) {
  if (work.is_graph && external_id != 0) return;  // the engine times what is in its graphs by events
  const Range* pushed = external_id != 0 ? ranges_(external_id) : nullptr;
  if (external_id == 0 && work.is_communication) pushed = collectives_(work.span.begin_ns);
  if (pushed != nullptr) {
    const Range range = range_of(work, *pushed);
    work.span.step = range.step;
    // A collective that copy engines do is copies between GPUs.
    if (work.name == kPeerCopy && range.kind == SpanKind::kCommunication) become_communication(work);
    if (work.is_communication && range.kind == SpanKind::kCommunication) {
      work.span.bucket = range.bucket;
      if (work.name != kPeerCopy) {  // each copy has its own
        work.span.bytes = range.bytes;
        if (range.name != nullptr) work.name = range.name;
      }
      work.span.correlation = range.correlation;
    } else if (work.span.kind == SpanKind::kCompute) {
      work.span.kind = kind_in(range.kind);
    }
    if (work.span.kind == SpanKind::kCopy) work.span.bucket = range.bucket;
  } else if (external_id != 0) {
    ++counters_.without_range;
  }
  ++counters_.spans;
  sink_(work.span, work.name);
}

void ActivitySpans::release_held(bool all) {
  std::deque<Work> held = std::exchange(held_, {});
  for (const Work& work : held) {
    if (const std::uint64_t* const external_id = find_call(work.call)) {
      emit(work, *external_id);
    } else if (all) {
      ++counters_.without_range;
      emit(work, 0);
    } else {
      held_.push_back(work);
    }
  }
}

}  // namespace ddbench::cuda
