#include "probes/cupti/cupti_probe.h"

#include <cxxabi.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/facts/facts.h"
#include "probes/cupti/cupti.h"
#include "probes/cupti/cupti_versions.h"
#include "probes/preload/session/nccl_plugin.h"

namespace ddbench::cuda {
namespace {

constexpr std::size_t kReadyBuffers = 2;
constexpr std::size_t kMostBuffers = 64;
constexpr std::uint64_t kSpansBetweenDrains = 1u << 12;
constexpr std::chrono::milliseconds kFlushPeriod{500};
constexpr std::chrono::milliseconds kBetweenFlushes{5};
constexpr std::chrono::seconds kMostRest{1};
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
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamIsCapturing_v10000,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamGetCaptureInfo_v10010,
    CUPTI_RUNTIME_TRACE_CBID_cudaThreadExchangeStreamCaptureMode_v10010,
    CUPTI_RUNTIME_TRACE_CBID_cudaGetErrorString_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaGetErrorName_v6050,
    CUPTI_RUNTIME_TRACE_CBID_cudaPointerGetAttributes_v4000};
// Not what may load a kernel (cuKernelGetFunction, occupancies). A PyTorch step of gpt2-124m made 3,000 calls of cuDevicePrimaryCtxGetState and 690 of cuKernelGetName around 960 launches; a step of
// the engine 264 of cuGetErrorString.
constexpr CUpti_driver_api_trace_cbid kNoisyDriver[] = {
    CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent,
    CUPTI_DRIVER_TRACE_CBID_cuCtxSetCurrent,
    CUPTI_DRIVER_TRACE_CBID_cuCtxGetDevice,
    CUPTI_DRIVER_TRACE_CBID_cuCtxGetLimit,
    CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxGetState,
    CUPTI_DRIVER_TRACE_CBID_cuDeviceGet,
    CUPTI_DRIVER_TRACE_CBID_cuDeviceGetAttribute,
    CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion,
    CUPTI_DRIVER_TRACE_CBID_cuGetProcAddress,
    CUPTI_DRIVER_TRACE_CBID_cuGetProcAddress_v2,
    CUPTI_DRIVER_TRACE_CBID_cuGetErrorString,
    CUPTI_DRIVER_TRACE_CBID_cuGetErrorName,
    CUPTI_DRIVER_TRACE_CBID_cuEventQuery,
    CUPTI_DRIVER_TRACE_CBID_cuStreamQuery,
    CUPTI_DRIVER_TRACE_CBID_cuStreamGetCtx,
    CUPTI_DRIVER_TRACE_CBID_cuStreamIsCapturing,
    CUPTI_DRIVER_TRACE_CBID_cuKernelGetAttribute,
    static_cast<CUpti_driver_api_trace_cbid>(719),  // cuKernelGetName, since CUDA 12.3
    CUPTI_DRIVER_TRACE_CBID_cuPointerGetAttributes};

std::uint64_t CUPTIAPI timestamp() {
  return static_cast<std::uint64_t>(now_ns());
}

/// Whether $DDBENCH_GPU_DETAIL asks for one record for each graph instead of one for each of its nodes.
bool wants_whole_graphs() {
  const char* const detail = std::getenv(kGpuDetailVariable);
  return detail != nullptr && std::string_view(detail) == "graph";
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
void record_counters(const ProbeCounters& counters, std::uint32_t version, std::uint64_t filtered_windows,
                     bool has_hardware_events, host::Recorder& recorder) noexcept try {
  const auto scalar = [&recorder](const char* name, std::uint64_t count) {
    recorder.record_scalar(name, 0, static_cast<double>(count));
  };
  scalar("cupti.records", counters.records);
  scalar("cupti.dropped_records", counters.dropped_records);
  scalar("cupti.refused_buffers", counters.refused_buffers);
  scalar("cupti.invalid_times", counters.invalid_times);
  scalar("cupti.without_range", counters.without_range);
  scalar("cupti.overhead_ns", counters.overhead_ns);
  if (filtered_windows != 0) scalar("cupti.filtered_windows", filtered_windows);
  if (has_hardware_events) scalar("cupti.hardware_events", 1);
  if (has_newer_records(version, CUPTI_API_VERSION)) scalar("cupti.newer_records", version);
  if (counters.recording_errors != 0) scalar("cupti.recording_errors", counters.recording_errors);
} catch (...) {  // no memory: the spans are recorded
}

}  // namespace

std::atomic<CuptiProbe*> CuptiProbe::active{nullptr};

CuptiProbe::CuptiProbe(host::Recorder& recorder)
    : recorder_(recorder),
      whole_graphs_(wants_whole_graphs()),
      buffers_(kReadyBuffers, kMostBuffers),
      spans_([this](std::uint64_t id) { return ranges_.find(id, found_range_) ? &found_range_ : nullptr; },
             [this](std::int64_t at_ns) {
               return collective_times_.find(at_ns, found_range_) ? &found_range_ : nullptr;
             },
             [this](std::uint64_t node) {
               return captured_ranges_.find(node, found_node_) ? &found_node_ : nullptr;
             },
             [this](const CUpti_ActivityAPI& call) { return call_names_.of(call); },
             [this](const Span& span, std::string_view name) { record(span, name); }),
      compute_(recorder.track(Lane::kDeviceCompute)),
      communication_(recorder.track(Lane::kDeviceCommunication)),
      main_(recorder.track(Lane::kMain)) {
  CuptiProbe* none = nullptr;
  if (!active.compare_exchange_strong(none, this)) {
    unavailable_ = "this process has a CUDA probe already";
    return;
  }
  try {
    start();
  } catch (const std::exception& error) {  // no thread, no memory: the program goes on without
    inject::note_kernels_recorded(false);
    enable(false);
    enabled_ = false;
    if (has_hardware_events_) end_hardware_trace();
    cupti_.end();
    if (recording_) recording_->end();
    unavailable_ = fmt::format("the recording of kernels cannot begin: {}", error.what());
  }
  if (!unavailable_.empty()) active.store(nullptr);
}

CuptiProbe::~CuptiProbe() {
  stop();
}

void CuptiProbe::start() {
  cuptiGetVersion(&version_);
  unavailable_ = cupti_.take(graph_callback, this);
  if (!unavailable_.empty()) return;
  const auto check = [this](CUptiResult result, const char* what) {
    if (result != CUPTI_SUCCESS && unavailable_.empty()) unavailable_ = cupti_failure(result, what);
    return unavailable_.empty();
  };
  recording_ = open_recording();
  trace_in_hardware();
  const bool is_ready = check(cupti_.receive(buffer_requested, buffer_completed, timestamp), "hand out records") &&
                        check(cupti_.enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, true), "record kernels");
  if (!is_ready) return cupti_.end();
  const std::optional<std::int64_t> offset_ns = cupti_.clock_offset_ns();
  if (!offset_ns) unavailable_ = "CUPTI, which another tool holds too, does not say the time by its clock";
  if (!offset_ns) return cupti_.end();
  spans_.set_clock_offset_ns(*offset_ns);
  enable(true);
  enabled_ = true;
  report_subscription();
  inject::note_kernels_recorded(true);
  flusher_ = std::thread([this] { flush_now_and_then(); });
}

/// Blackwell's hardware can time kernels without instrumentation. Other GPUs refuse.
void CuptiProbe::trace_in_hardware() noexcept {
#if CUPTI_API_VERSION >= 130000
  const char* const chosen = std::getenv(kHardwareEventsVariable);
  if (cupti_.is_shared() || (chosen != nullptr ? std::string_view(chosen) == "0" : !traces_well_in_hardware(version_))) return;
  has_hardware_events_ = cuptiActivityEnableHWTrace(1) == CUPTI_SUCCESS;
#endif
}

void CuptiProbe::report_subscription() {
  if (cupti_.is_shared()) recorder_.intern(reported(fact_key<"cupti.shared_with">, cupti_.holder()));
  if (whole_graphs_) recorder_.intern(reported(fact_key<"cupti.detail">, "graph"));
}

void CuptiProbe::enable(bool on) noexcept {
  for (const CUpti_ActivityKind kind : kKinds) cupti_.enable(kind, on);
  if (whole_graphs_) cupti_.enable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, on);
  if (!on) return;
  // After the kinds: enabling one enables all its calls.
  for (const auto call : kNoisyRuntime) cupti_.leave_out(call);
  for (const auto call : kNoisyDriver) cupti_.leave_out(call);
}

void CuptiProbe::push(const Range& range) noexcept {
  inject::push_thread_range(range);
  captured_ranges_.push(range);
  if (range.kind == SpanKind::kCommunication) collective_times_.begin(range);
  if (!unavailable_.empty()) return;
  const std::uint64_t id = ranges_.add(range);
  if (recording_) recording_->add_range(id, range);
  cupti_.push(id);
}

void CuptiProbe::pop() noexcept {
  if (inject::thread_range().kind == SpanKind::kCommunication) collective_times_.end();
  inject::pop_thread_range();
  captured_ranges_.pop();
  if (!unavailable_.empty()) return;
  cupti_.pop();
}

void CuptiProbe::set_enabled(bool enabled) noexcept {
  if (!unavailable_.empty() || stopped_ || enabled_.exchange(enabled) == enabled) return;
  // Graphs that were captured would get wrong launches: what is not wanted is left out instead.
  const bool filters = enabled ? is_filtering_.load() : expects_graphs_ && !may_begin_again(version_);
  is_filtering_ = filters && !enabled;
  if (!filters) enable(enabled);
  has_paused_ = has_paused_ || !filters;
  // The recorder accepts nothing while it is off: earlier activity that a later flush returned would be lost.
  if (!enabled) flush();
  if (filters) keep_out(!enabled);
}

void CuptiProbe::keep_out(bool begins) noexcept try {
  const std::lock_guard lock(mutex_);
  begins ? off_windows_.begin(now_ns()) : off_windows_.end(now_ns());
} catch (...) {  // no memory
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
  if (is_first) record_counters(counters, version_, off_windows_.count(), has_hardware_events_, recorder_);
  return counters;
}

void CuptiProbe::let_go() noexcept {
  inject::note_kernels_recorded(false);
  enable(false);
  flush_finished();
  flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  if (has_hardware_events_) end_hardware_trace();
  note_dropped(nullptr, 0);  // since the last buffer
  {
    const std::lock_guard lock(stop_mutex_);
    is_stopping_ = true;
  }
  stopping_.notify_all();
  if (flusher_.joinable()) flusher_.join();
  cupti_.end();
  active.store(nullptr);
  if (recording_) recording_->end();
}

/// Streams that nobody has waited for may still work, and a forced flush gives kernels that go on no end.
void CuptiProbe::flush_finished() noexcept {
  const auto until = std::chrono::steady_clock::now() + kMostRest;
  std::uint64_t before = records_so_far();
  for (int idle = 0; idle < 2 && std::chrono::steady_clock::now() < until;) {
    flush_all(0);
    const std::uint64_t now = records_so_far();
    idle = now == before ? idle + 1 : 0;
    before = now;
    if (idle < 2) std::this_thread::sleep_for(kBetweenFlushes);
  }
}

std::uint64_t CuptiProbe::records_so_far() noexcept {
  const std::lock_guard lock(mutex_);
  return spans_.counters().records;
}

void CuptiProbe::end_hardware_trace() noexcept {
#if CUPTI_API_VERSION >= 130000
  cuptiActivityEnableHWTrace(0);
#endif
}

/// So that a process that ends without its exit handlers has reported all but its last moments.
void CuptiProbe::flush_now_and_then() {
  std::unique_lock lock(stop_mutex_);
  while (!stopping_.wait_for(lock, kFlushPeriod, [this] { return is_stopping_; })) {
    lock.unlock();
    flush_all(0);
    follow_clock();
    lock.lock();
  }
}

void CuptiProbe::follow_clock() noexcept {
  if (!cupti_.is_shared()) return;
  const std::optional<std::int64_t> offset_ns = cupti_.clock_offset_ns();
  const std::lock_guard lock(mutex_);
  if (offset_ns) spans_.set_clock_offset_ns(*offset_ns);
}

void CuptiProbe::record(const Span& span, std::string_view name) {
  if (off_windows_.contain(span.begin_ns)) return;
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
