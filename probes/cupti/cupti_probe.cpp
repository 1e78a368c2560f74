#include "probes/cupti/cupti_probe.h"

#include <cxxabi.h>

#include <atomic>
#include <cstdlib>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "probes/cupti/cupti.h"

namespace ddbench::cuda {
namespace {

constexpr std::size_t kMostBuffers = 64;
constexpr std::uint64_t kSpansBetweenDrains = 1u << 12;
constexpr std::chrono::milliseconds kFlushPeriod{500};
constexpr std::size_t kLongestName = 160;

// Not SYNCHRONIZATION: calls that wait are among those of the runtime and the driver, and it has a record of
// each question whether an event was passed.
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMCPY2,
                                         CUPTI_ACTIVITY_KIND_MEMSET,
                                         CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                         CUPTI_ACTIVITY_KIND_RUNTIME,
                                         CUPTI_ACTIVITY_KIND_DRIVER,
                                         CUPTI_ACTIVITY_KIND_OVERHEAD,
                                         CUPTI_ACTIVITY_KIND_MARKER};

// Called without end, and of no account.
constexpr CUpti_runtime_api_trace_cbid kNoisyRuntime[] = {
    CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaSetDevice_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaEventQuery_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamQuery_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaEventCreate_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaEventCreateWithFlags_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaEventDestroy_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaDeviceGetAttribute_v5000,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamIsCapturing_v10000};
constexpr CUpti_driver_api_trace_cbid kNoisyDriver[] = {
    CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent,      CUPTI_DRIVER_TRACE_CBID_cuCtxSetCurrent,
    CUPTI_DRIVER_TRACE_CBID_cuCtxGetDevice,       CUPTI_DRIVER_TRACE_CBID_cuDeviceGetAttribute,
    CUPTI_DRIVER_TRACE_CBID_cuEventQuery,         CUPTI_DRIVER_TRACE_CBID_cuStreamQuery,
    CUPTI_DRIVER_TRACE_CBID_cuKernelGetAttribute, CUPTI_DRIVER_TRACE_CBID_cuPointerGetAttributes};

std::atomic<CuptiProbe*> active{nullptr};

std::uint64_t CUPTIAPI timestamp() {
  return static_cast<std::uint64_t>(now_ns());
}

std::string in_words(CUptiResult result, const char* what) {
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    return "another tool (Nsight, compute-sanitizer, a debugger or a profiler of the program) holds CUPTI";
  }
  const char* text = nullptr;
  cuptiGetResultString(result, &text);
  return std::string("CUPTI cannot ") + what + ": " + (text != nullptr ? text : "unknown error") + " (" +
         std::to_string(static_cast<int>(result)) + ")";
}

std::string_view api_name(const CUpti_ActivityAPI& call) {
  const char* name = nullptr;
  cuptiGetCallbackName(
      call.kind == CUPTI_ACTIVITY_KIND_RUNTIME ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API,
      call.cbid, &name);
  return name != nullptr ? name : "cuda_call";
}

/// "void gemm<float>(...)" of "_Z4gemmIfEv...", and no longer than a table can show.
std::string readable(std::string_view name) {
  std::string text(name);
  if (name.starts_with("_Z")) {
    int status = 0;
    char* const demangled = abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status);
    if (demangled != nullptr) text = demangled;
    std::free(demangled);
  }
  if (text.size() > kLongestName) text.resize(kLongestName);
  return text;
}

/// So that they are stored with the run, under these names.
void tell(const ProbeCounters& counters, host::Recorder& recorder) noexcept try {
  const auto scalar = [&recorder](const char* name, std::uint64_t count) {
    recorder.record_scalar(name, 0, static_cast<double>(count));
  };
  scalar("cupti.records", counters.records);
  scalar("cupti.dropped_records", counters.dropped_records);
  scalar("cupti.refused_buffers", counters.refused_buffers);
  scalar("cupti.invalid_times", counters.invalid_times);
  scalar("cupti.without_range", counters.without_range);
  scalar("cupti.overhead_ns", counters.overhead_ns);
  if (counters.recording_errors != 0) scalar("cupti.recording_errors", counters.recording_errors);
} catch (...) {  // no memory: the spans are recorded
}

}  // namespace

CuptiProbe::CuptiProbe(host::Recorder& recorder)
    : recorder_(recorder),
      buffers_(0, kMostBuffers),
      spans_([this](std::uint64_t id) { return ranges_.find(id, found_range_) ? &found_range_ : nullptr; },
             [this](std::int64_t at_ns) {
               return collective_times_.find(at_ns, found_range_) ? &found_range_ : nullptr;
             },
             [this](std::uint64_t node) {
               return captured_ranges_.find(node, found_node_) ? &found_node_ : nullptr;
             },
             api_name, [this](const Span& span, std::string_view name) { record(span, name); }),
      compute_(recorder.track(Lane::kDeviceCompute)),
      communication_(recorder.track(Lane::kDeviceCommunication)),
      main_(recorder.track(Lane::kMain)) {
  CuptiProbe* none = nullptr;
  if (!active.compare_exchange_strong(none, this)) {
    unavailable_ = "this process has a CUDA probe already";
    return;
  }
  start();
  if (!unavailable_.empty()) active.store(nullptr);
}

CuptiProbe::~CuptiProbe() {
  stop();
}

void CuptiProbe::start() {
  const auto check = [this](CUptiResult result, const char* what) {
    if (result != CUPTI_SUCCESS && unavailable_.empty()) unavailable_ = in_words(result, what);
    return unavailable_.empty();
  };
  if (!check(cuptiSubscribe(&subscriber_, graph_callback, this), "be taken")) return;
  recording_ = open_recording();
  const bool is_ready =
      check(cuptiActivityRegisterTimestampCallback(timestamp), "use ddbench's clock") &&
      check(cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed), "hand out records") &&
      check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "record kernels");
  if (!is_ready) {
    cuptiUnsubscribe(subscriber_);
    return;
  }
  enable(true);
  enabled_ = true;
  flusher_ = std::thread([this] { flush_now_and_then(); });
}

void CuptiProbe::enable(bool on) noexcept {
  for (const CUpti_ActivityKind kind : kKinds) on ? cuptiActivityEnable(kind) : cuptiActivityDisable(kind);
  if (!on) return;
  // After the kinds: enabling one enables all its calls.
  for (const auto call : kNoisyRuntime) cuptiActivityEnableRuntimeApi(call, 0);
  for (const auto call : kNoisyDriver) cuptiActivityEnableDriverApi(call, 0);
}

void CuptiProbe::push(const Range& range) noexcept {
  inject::push_thread_range(range);
  captured_ranges_.push(range);
  if (range.kind == SpanKind::kCommunication) collective_times_.begin(range);
  if (!unavailable_.empty()) return;
  const std::uint64_t id = ranges_.add(range);
  if (recording_) recording_->add_range(id, range);
  cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, id);
}

void CuptiProbe::pop() noexcept {
  if (inject::thread_range().kind == SpanKind::kCommunication) collective_times_.end();
  inject::pop_thread_range();
  captured_ranges_.pop();
  if (!unavailable_.empty()) return;
  std::uint64_t id = 0;
  cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &id);
}

void CuptiProbe::set_enabled(bool enabled) noexcept {
  if (!unavailable_.empty() || stopped_ || enabled_.exchange(enabled) == enabled) return;
  enable(enabled);
  // The recorder accepts nothing while it is off: earlier activity that a later flush returned would be lost.
  if (!enabled) flush();
}

void CuptiProbe::flush() noexcept {
  if (!unavailable_.empty() || stopped_) return;
  flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

/// What another thread is about to flush has come, too. Without mutex_: CUPTI calls buffer_completed() from
/// here.
void CuptiProbe::flush_all(std::uint32_t flags) noexcept {
  const std::lock_guard lock(flush_mutex_);
  cuptiActivityFlushAll(flags);
}

ProbeCounters CuptiProbe::stop() noexcept {
  const bool is_first = unavailable_.empty() && !stopped_.exchange(true);
  if (is_first) let_go();
  const std::lock_guard lock(mutex_);
  spans_.finish();
  ProbeCounters counters = spans_.counters();
  counters.dropped_records = dropped_records_;
  counters.refused_buffers = buffers_.refused();
  if (recording_) counters.recording_errors = recording_->errors();
  if (is_first) tell(counters, recorder_);
  return counters;
}

void CuptiProbe::let_go() noexcept {
  enable(false);
  flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  note_dropped(nullptr, 0);  // since the last buffer
  {
    const std::lock_guard lock(stop_mutex_);
    is_stopping_ = true;
  }
  stopping_.notify_all();
  if (flusher_.joinable()) flusher_.join();
  cuptiUnsubscribe(subscriber_);
  active.store(nullptr);
  if (recording_) recording_->end();
}

/// So that a process that ends without its exit handlers has reported all but its last moments.
void CuptiProbe::flush_now_and_then() {
  std::unique_lock lock(stop_mutex_);
  while (!stopping_.wait_for(lock, kFlushPeriod, [this] { return is_stopping_; })) {
    lock.unlock();
    flush_all(0);
    lock.lock();
  }
}

void CuptiProbe::buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records) {
  CuptiProbe* const probe = active.load();
  *buffer = probe != nullptr ? probe->buffers_.take() : nullptr;
  *bytes = *buffer != nullptr ? BufferPool::kBufferBytes : 0;
  *records = 0;  // as many as fit
}

void CuptiProbe::buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                  std::size_t /*bytes*/, std::size_t valid_bytes) {
  CuptiProbe* const probe = active.load();
  if (probe != nullptr && buffer != nullptr) probe->take_buffer(context, stream, buffer, valid_bytes);
}

std::uint64_t CuptiProbe::note_dropped(CUcontext context, std::uint32_t stream) noexcept {
  std::size_t dropped = 0;
  if (cuptiActivityGetNumDroppedRecords(context, stream, &dropped) != CUPTI_SUCCESS) return 0;
  const std::lock_guard lock(mutex_);
  dropped_records_ += dropped;
  return dropped;
}

void CuptiProbe::take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                             std::size_t bytes) {
  const std::uint64_t dropped = note_dropped(context, stream);
  try {
    std::vector<const CUpti_Activity*> records;
    CUpti_Activity* record = nullptr;
    while (cuptiActivityGetNextRecord(buffer, bytes, &record) == CUPTI_SUCCESS) records.push_back(record);
    const std::lock_guard lock(mutex_);
    if (recording_) recording_->add_buffer(context, stream, dropped, {buffer, bytes}, records);
    if (ranges_.any()) spans_.expect_ranges();
    spans_.convert(records);
  } catch (...) {  // no memory: the recorder counts what it drops, and these are lost
    const std::lock_guard lock(mutex_);
    ++dropped_records_;
  }
  buffers_.give_back(buffer);
}

void CuptiProbe::record(const Span& span, std::string_view name) {
  // Thousands arrive at once, and nobody waits for them: do not record them faster than they are spooled.
  if (++since_drain_ % kSpansBetweenDrains == 0) recorder_.flush();
  std::string key(name);
  auto found = name_ids_.find(key);
  if (found == name_ids_.end()) {
    found = name_ids_.emplace(std::move(key), recorder_.intern(readable(name))).first;
  }
  Span named = span;
  named.name_id = found->second;
  host::Recorder::Track& track = span.lane == Lane::kDeviceCommunication ? communication_
                                 : span.lane == Lane::kDeviceCompute     ? compute_
                                                                         : main_;
  track.record(named);
}

std::unique_ptr<CudaProbe> make_cupti_probe(host::Recorder& recorder) {
  return std::make_unique<CuptiProbe>(recorder);
}

}  // namespace ddbench::cuda
