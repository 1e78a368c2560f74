// What CUPTI records: kinds, calls, clocks, and the external ids of threads.
#include <array>

#include "state.h"

namespace ddbench::testing::cupti {
namespace {

using ExternalIds = std::array<std::vector<std::uint64_t>, CUPTI_EXTERNAL_CORRELATION_KIND_SIZE>;

ExternalIds& ids_of_thread() {
  thread_local ExternalIds ids;
  return ids;
}

bool is_valid(CUpti_ExternalCorrelationKind kind) {
  return kind > CUPTI_EXTERNAL_CORRELATION_KIND_INVALID && kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE;
}

bool is_valid(CUpti_ActivityKind kind) {
  return kind > CUPTI_ACTIVITY_KIND_INVALID && kind < CUPTI_ACTIVITY_KIND_COUNT;
}

CUptiResult except_call(State& now, CUpti_ActivityKind kind, CUpti_CallbackId call, bool has_record) {
  if (has_record) {
    now.excepted.erase({kind, call});
  } else {
    now.excepted.insert({kind, call});
  }
  return CUPTI_SUCCESS;
}

}  // namespace

const std::vector<std::uint64_t>& external_ids() {
  return ids_of_thread()[CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0];
}

}  // namespace ddbench::testing::cupti

using namespace ddbench::testing::cupti;

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                    CUpti_BuffersCallbackCompleteFunc complete) {
  return answer("cuptiActivityRegisterCallbacks", [&](State& now) {
    if (request == nullptr || complete == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
    now.request = request;
    now.complete = complete;
    return CUPTI_SUCCESS;
  });
}

CUptiResult CUPTIAPI cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
  return answer("cuptiActivityRegisterTimestampCallback", [&](State& now) {
    if (clock == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
    if (!now.kinds.empty()) return CUPTI_ERROR_INVALID_OPERATION;  // there would be times of both clocks
    now.clock = clock;
    return CUPTI_SUCCESS;
  });
}

CUptiResult CUPTIAPI cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, std::size_t* bytes, void* value) {
  return answer("cuptiActivitySetAttribute", [&](State& now) {
    if (attribute != CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER || bytes == nullptr || *bytes != 1 || value == nullptr)
      return CUPTI_ERROR_INVALID_PARAMETER;
    now.wants_zeroed_buffers = *static_cast<const std::uint8_t*>(value) != 0;
    return CUPTI_SUCCESS;
  });
}

CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind) {
  return answer("cuptiActivityEnable", [&](State& now) {
    if (!is_valid(kind)) return CUPTI_ERROR_INVALID_KIND;
    if (now.request == nullptr) return CUPTI_ERROR_INVALID_OPERATION;  // no buffers: all would be lost
    const CUpti_ActivityKind other =
        kind == CUPTI_ACTIVITY_KIND_KERNEL              ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
        : kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ? CUPTI_ACTIVITY_KIND_KERNEL
                                                        : CUPTI_ACTIVITY_KIND_INVALID;
    if (now.kinds.contains(other)) return CUPTI_ERROR_NOT_COMPATIBLE;
    if (now.kinds.insert(kind).second) now.beginnings += kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    std::erase_if(now.excepted, [kind](const auto& call) { return call.first == kind; });
    return CUPTI_SUCCESS;
  });
}

CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind) {
  return answer("cuptiActivityDisable", [&](State& now) {
    if (!is_valid(kind)) return CUPTI_ERROR_INVALID_KIND;
    now.kinds.erase(kind);
    return CUPTI_SUCCESS;
  });
}

CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi(CUpti_CallbackId call, std::uint8_t enable) {
  return answer("cuptiActivityEnableRuntimeApi", [&](State& now) {
    if (call >= CUPTI_RUNTIME_TRACE_CBID_SIZE) return CUPTI_ERROR_INVALID_PARAMETER;
    return except_call(now, CUPTI_ACTIVITY_KIND_RUNTIME, call, enable != 0);
  });
}

CUptiResult CUPTIAPI cuptiActivityEnableDriverApi(CUpti_CallbackId call, std::uint8_t enable) {
  return answer("cuptiActivityEnableDriverApi", [&](State& now) {
    if (call >= CUPTI_DRIVER_TRACE_CBID_SIZE) return CUPTI_ERROR_INVALID_PARAMETER;
    return except_call(now, CUPTI_ACTIVITY_KIND_DRIVER, call, enable != 0);
  });
}

CUptiResult CUPTIAPI cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                            std::uint64_t id) {
  return answer("cuptiActivityPushExternalCorrelationId", [&](State&) {
    if (!is_valid(kind)) return CUPTI_ERROR_INVALID_PARAMETER;
    ids_of_thread()[kind].push_back(id);
    return CUPTI_SUCCESS;
  });
}

CUptiResult CUPTIAPI cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                           std::uint64_t* last) {
  return answer("cuptiActivityPopExternalCorrelationId", [&](State&) {
    if (!is_valid(kind)) return CUPTI_ERROR_INVALID_PARAMETER;
    std::vector<std::uint64_t>& ids = ids_of_thread()[kind];
    if (ids.empty()) return CUPTI_ERROR_QUEUE_EMPTY;
    if (last != nullptr) *last = ids.back();
    ids.pop_back();
    return CUPTI_SUCCESS;
  });
}
