#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>

/// The functions of CUPTI 13.3 and later for one of several subscribers, under names of our own: the CUPTI of
/// the build may not know them, and that of a machine may not have them (each is null there).
namespace ddbench::cuda::shared {

using RequestBuffer = void(CUPTIAPI*)(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records, void* about);
using CompleteBuffer = void(CUPTIAPI*)(std::uint8_t* buffer, std::size_t bytes, std::size_t valid_bytes, void* about);

/// CUpti_SubscriberParams as of 13.2.
struct SubscriberParams {
  std::size_t structSize;
  const char* subscriberName;
  char* oldSubscriberName;
  std::size_t oldSubscriberSize;
  std::uint8_t allowMultipleSubscribers;
};
inline constexpr std::size_t kParamsBytes = offsetof(SubscriberParams, allowMultipleSubscribers) + 1;

#define DDBENCH_CUPTI_V2(name) __asm__(#name) __attribute__((weak))
extern "C" {
CUptiResult ddbench_cupti_subscribe(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void* user, SubscriberParams*)
    DDBENCH_CUPTI_V2(cuptiSubscribe_v2);
CUptiResult ddbench_cupti_receive(CUpti_SubscriberHandle, RequestBuffer, CompleteBuffer)
    DDBENCH_CUPTI_V2(cuptiActivityRegisterCallbacks_v2);
CUptiResult ddbench_cupti_enable(CUpti_SubscriberHandle, CUpti_ActivityKind, void* config)
    DDBENCH_CUPTI_V2(cuptiActivityEnable_v2);
CUptiResult ddbench_cupti_disable(CUpti_SubscriberHandle, CUpti_ActivityKind, void* config)
    DDBENCH_CUPTI_V2(cuptiActivityDisable_v2);
CUptiResult ddbench_cupti_runtime(CUpti_SubscriberHandle, CUpti_CallbackId, std::uint8_t enable)
    DDBENCH_CUPTI_V2(cuptiActivityEnableRuntimeApi_v2);
CUptiResult ddbench_cupti_driver(CUpti_SubscriberHandle, CUpti_CallbackId, std::uint8_t enable)
    DDBENCH_CUPTI_V2(cuptiActivityEnableDriverApi_v2);
CUptiResult ddbench_cupti_push(CUpti_SubscriberHandle, CUpti_ExternalCorrelationKind, std::uint64_t id)
    DDBENCH_CUPTI_V2(cuptiActivityPushExternalCorrelationId_v2);
CUptiResult ddbench_cupti_pop(CUpti_SubscriberHandle, CUpti_ExternalCorrelationKind, std::uint64_t* id)
    DDBENCH_CUPTI_V2(cuptiActivityPopExternalCorrelationId_v2);
CUptiResult ddbench_cupti_next(CUpti_SubscriberHandle, std::uint8_t* buffer, std::size_t valid_bytes, CUpti_Activity**)
    DDBENCH_CUPTI_V2(cuptiActivityGetNextRecord_v2);
CUptiResult ddbench_cupti_dropped(CUpti_SubscriberHandle, CUcontext, std::uint32_t stream, std::size_t* dropped)
    DDBENCH_CUPTI_V2(cuptiActivityGetNumDroppedRecords_v2);
CUptiResult ddbench_cupti_time(CUpti_SubscriberHandle, std::uint64_t* time) DDBENCH_CUPTI_V2(cuptiGetTimestamp_v2);
}
#undef DDBENCH_CUPTI_V2

/// Whether this CUPTI has all of them. 13.2 has some, as a preview.
inline bool are_there() noexcept {
  return ddbench_cupti_subscribe != nullptr && ddbench_cupti_receive != nullptr && ddbench_cupti_enable != nullptr &&
         ddbench_cupti_disable != nullptr && ddbench_cupti_runtime != nullptr && ddbench_cupti_driver != nullptr &&
         ddbench_cupti_push != nullptr && ddbench_cupti_pop != nullptr && ddbench_cupti_next != nullptr &&
         ddbench_cupti_dropped != nullptr && ddbench_cupti_time != nullptr;
}

}  // namespace ddbench::cuda::shared
