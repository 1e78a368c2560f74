#include "probes/cupti/subscription.h"

#include <array>
#include <chrono>
#include <limits>

#include "core/clock.h"
#include "probes/cupti/shared_calls.h"

namespace ddbench::cuda {
namespace {

constexpr CUpti_ExternalCorrelationKind kOurs = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
constexpr std::size_t kLongestHolder = 128;
constexpr int kClockQueries = 16;

// CUPTI's callbacks for buffers carry no context.
Subscription::RequestBuffer request_of_shared = nullptr;
Subscription::CompleteBuffer complete_of_shared = nullptr;

void CUPTIAPI request_shared(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records, void* /*about*/) {
  request_of_shared(buffer, bytes, records);
}
void CUPTIAPI complete_shared(std::uint8_t* buffer, std::size_t bytes, std::size_t valid_bytes, void* /*about*/) {
  complete_of_shared(nullptr, 0, buffer, bytes, valid_bytes);
}

/// CUPTI's own clock on Linux (cuptiGetTimestamp).
std::uint64_t CUPTIAPI usual_time() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace

std::string cupti_failure(CUptiResult result, const char* what) {
  const char* text = nullptr;
  cuptiGetResultString(result, &text);
  return std::string("CUPTI cannot ") + what + ": " + (text != nullptr ? text : "unknown error") + " (" +
         std::to_string(static_cast<int>(result)) + ")";
}

std::string Subscription::take(CUpti_CallbackFunc callback, void* user) {
  CUptiResult result = subscribe_alone(callback, user);
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED && shared::are_there()) {
    result = subscribe_beside(callback, user);
  }
  if (result == CUPTI_SUCCESS) return {};
  if (result != CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) return cupti_failure(result, "be taken");
  return "another tool (" +
         (holder_.empty() ? "Nsight, compute-sanitizer, a debugger or a profiler of the program" : holder_) +
         ") holds CUPTI";
}

CUptiResult Subscription::subscribe_alone(CUpti_CallbackFunc callback, void* user) {
#if CUPTI_API_VERSION >= 130000
  std::array<char, kLongestHolder> name{};
  CUpti_SubscriberParams parameters{};
  parameters.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  parameters.subscriberName = "ddbench";
  parameters.oldSubscriberName = name.data();
  parameters.oldSubscriberSize = name.size();
  const CUptiResult result = cuptiSubscribe_v2(&handle_, callback, user, &parameters);
  name.back() = '\0';
  if (result != CUPTI_SUCCESS) holder_ = name.data();
  return result;
#else
  return cuptiSubscribe(&handle_, callback, user);
#endif
}

CUptiResult Subscription::subscribe_beside(CUpti_CallbackFunc callback, void* user) {
  shared::SubscriberParams parameters{};
  parameters.structSize = shared::kParamsBytes;
  parameters.subscriberName = "ddbench";
  parameters.allowMultipleSubscribers = 1;
  const CUptiResult result = shared::ddbench_cupti_subscribe(&handle_, callback, user, &parameters);
  is_shared_ = result == CUPTI_SUCCESS;
  return result;
}

void Subscription::end() noexcept {
  if (handle_ != nullptr && !is_shared_) leave_as_it_was();
  if (handle_ != nullptr) cuptiUnsubscribe(handle_);
  handle_ = nullptr;
}

/// For a profiler of the program's own, which comes later: its buffers may not be zeroed, and its times are those of the machine's clock.
void Subscription::leave_as_it_was() noexcept {
  std::uint8_t is_zeroed = 0;
  std::size_t bytes = sizeof is_zeroed;
  cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &bytes, &is_zeroed);
  cuptiActivityRegisterTimestampCallback(usual_time);
}

CUptiResult Subscription::receive(RequestBuffer request, CompleteBuffer complete, CUpti_TimestampCallbackFunc clock) {
  if (is_shared_) {
    request_of_shared = request;
    complete_of_shared = complete;
    return shared::ddbench_cupti_receive(handle_, request_shared, complete_shared);
  }
  if (const CUptiResult set = cuptiActivityRegisterTimestampCallback(clock); set != CUPTI_SUCCESS) return set;
  std::uint8_t is_zeroed = 1;
  std::size_t bytes = sizeof is_zeroed;
  // A CUPTI that does not know this zeroes each buffer as it gets it.
  cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &bytes, &is_zeroed);
  return cuptiActivityRegisterCallbacks(request, complete);
}

CUptiResult Subscription::enable(CUpti_ActivityKind kind, bool on) noexcept {
  if (!is_shared_) return on ? cuptiActivityEnable(kind) : cuptiActivityDisable(kind);
  return on ? shared::ddbench_cupti_enable(handle_, kind, nullptr) : shared::ddbench_cupti_disable(handle_, kind, nullptr);
}

CUptiResult Subscription::leave_out(CUpti_runtime_api_trace_cbid call) noexcept {
  return is_shared_ ? shared::ddbench_cupti_runtime(handle_, call, 0) : cuptiActivityEnableRuntimeApi(call, 0);
}

CUptiResult Subscription::leave_out(CUpti_driver_api_trace_cbid call) noexcept {
  return is_shared_ ? shared::ddbench_cupti_driver(handle_, call, 0) : cuptiActivityEnableDriverApi(call, 0);
}

void Subscription::push(std::uint64_t external_id) noexcept {
  is_shared_ ? shared::ddbench_cupti_push(handle_, kOurs, external_id)
             : cuptiActivityPushExternalCorrelationId(kOurs, external_id);
}

void Subscription::pop() noexcept {
  std::uint64_t id = 0;
  is_shared_ ? shared::ddbench_cupti_pop(handle_, kOurs, &id) : cuptiActivityPopExternalCorrelationId(kOurs, &id);
}

CUptiResult Subscription::next_record(std::uint8_t* buffer, std::size_t bytes, CUpti_Activity** record) noexcept {
  return is_shared_ ? shared::ddbench_cupti_next(handle_, buffer, bytes, record)
                    : cuptiActivityGetNextRecord(buffer, bytes, record);
}

std::size_t Subscription::take_dropped(CUcontext context, std::uint32_t stream) noexcept {
  std::size_t dropped = 0;
  const CUptiResult result = is_shared_ ? shared::ddbench_cupti_dropped(handle_, context, stream, &dropped)
                                        : cuptiActivityGetNumDroppedRecords(context, stream, &dropped);
  return result == CUPTI_SUCCESS ? dropped : 0;
}

std::optional<std::int64_t> Subscription::clock_offset_ns() const noexcept {
  if (!is_shared_) return 0;
  std::int64_t best_ns = std::numeric_limits<std::int64_t>::max();
  std::optional<std::int64_t> offset_ns;
  for (int query = 0; query < kClockQueries; ++query) {
    std::uint64_t time = 0;
    const std::int64_t before_ns = now_ns();
    if (shared::ddbench_cupti_time(handle_, &time) != CUPTI_SUCCESS) continue;
    const std::int64_t took_ns = now_ns() - before_ns;
    if (took_ns >= best_ns) continue;
    best_ns = took_ns;
    offset_ns = before_ns + took_ns / 2 - static_cast<std::int64_t>(time);
  }
  return offset_ns;
}

}  // namespace ddbench::cuda
