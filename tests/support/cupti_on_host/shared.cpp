// The functions that name one of several subscribers, as CUPTI 13.3 has them, over those for the only one.
#include "core/clock.h"
#include "state.h"

namespace ddbench::testing::cupti {
namespace {

using RequestShared = void(CUPTIAPI*)(std::uint8_t**, std::size_t*, std::size_t*, void*);
using CompleteShared = void(CUPTIAPI*)(std::uint8_t*, std::size_t, std::size_t, void*);

RequestShared request_shared = nullptr;
CompleteShared complete_shared = nullptr;

void CUPTIAPI request(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records) {
  request_shared(buffer, bytes, records, nullptr);
}
void CUPTIAPI complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t bytes, std::size_t valid) {
  complete_shared(buffer, bytes, valid, nullptr);
}

/// Whether it is the client's, which is beside another one.
bool is_ours(CUpti_SubscriberHandle subscriber) {
  const std::lock_guard lock(state_mutex());
  const bool ours = state().is_shared && subscriber == reinterpret_cast<CUpti_SubscriberHandle>(&state());
  if (!ours) state().refusals.emplace_back("not a subscriber beside another one");
  return ours;
}

}  // namespace

std::uint64_t shared_time() {
  return static_cast<std::uint64_t>(now_ns() - kSharedClockBehind_ns);
}

}  // namespace ddbench::testing::cupti

using namespace ddbench::testing::cupti;

extern "C" {

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks_v2(CUpti_SubscriberHandle subscriber, RequestShared request_buffer,
                                                       CompleteShared complete_buffer) {
  if (!is_ours(subscriber)) return CUPTI_ERROR_INVALID_PARAMETER;
  request_shared = request_buffer;
  complete_shared = complete_buffer;
  return cuptiActivityRegisterCallbacks(request, complete);
}

CUptiResult CUPTIAPI cuptiActivityEnable_v2(CUpti_SubscriberHandle subscriber, CUpti_ActivityKind kind, void*) {
  return is_ours(subscriber) ? cuptiActivityEnable(kind) : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiActivityDisable_v2(CUpti_SubscriberHandle subscriber, CUpti_ActivityKind kind, void*) {
  return is_ours(subscriber) ? cuptiActivityDisable(kind) : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi_v2(CUpti_SubscriberHandle subscriber, CUpti_CallbackId call,
                                                      std::uint8_t enable) {
  return is_ours(subscriber) ? cuptiActivityEnableRuntimeApi(call, enable) : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiActivityEnableDriverApi_v2(CUpti_SubscriberHandle subscriber, CUpti_CallbackId call,
                                                     std::uint8_t enable) {
  return is_ours(subscriber) ? cuptiActivityEnableDriverApi(call, enable) : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiActivityPushExternalCorrelationId_v2(CUpti_SubscriberHandle subscriber,
                                                               CUpti_ExternalCorrelationKind kind, std::uint64_t id) {
  return is_ours(subscriber) ? cuptiActivityPushExternalCorrelationId(kind, id) : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiActivityPopExternalCorrelationId_v2(CUpti_SubscriberHandle subscriber,
                                                              CUpti_ExternalCorrelationKind kind, std::uint64_t* id) {
  return is_ours(subscriber) ? cuptiActivityPopExternalCorrelationId(kind, id) : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord_v2(CUpti_SubscriberHandle subscriber, std::uint8_t* buffer,
                                                   std::size_t valid, CUpti_Activity** record) {
  return is_ours(subscriber) ? cuptiActivityGetNextRecord(buffer, valid, record) : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords_v2(CUpti_SubscriberHandle subscriber, CUcontext context,
                                                          std::uint32_t stream, std::size_t* dropped) {
  return is_ours(subscriber) ? cuptiActivityGetNumDroppedRecords(context, stream, dropped) : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiGetTimestamp_v2(CUpti_SubscriberHandle subscriber, std::uint64_t* time) {
  if (!is_ours(subscriber)) return CUPTI_ERROR_INVALID_PARAMETER;
  *time = shared_time();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnableHWTrace(std::uint8_t enable) {
  const std::lock_guard lock(state_mutex());  // no refusal: only Blackwell has it
  if (!state().is_blackwell) return CUPTI_ERROR_NOT_SUPPORTED;
  state().times_in_hardware = enable != 0;
  return CUPTI_SUCCESS;
}
}
