#include "core/span.h"

namespace ddbench {

std::string_view to_string(SpanKind kind) noexcept {
  switch (kind) {
    case SpanKind::kStep: return "step";
    case SpanKind::kForward: return "forward";
    case SpanKind::kBackward: return "backward";
    case SpanKind::kOptimizer: return "optimizer";
    case SpanKind::kCompute: return "compute";
    case SpanKind::kCommunication: return "communication";
    case SpanKind::kCopy: return "copy";
    case SpanKind::kDataWait: return "data_wait";
    case SpanKind::kHost: return "host";
    case SpanKind::kNcclEvent: return "nccl_event";
  }
  return "unknown";
}

std::string_view to_string(Lane lane) noexcept {
  switch (lane) {
    case Lane::kMain: return "main";
    case Lane::kCommunication: return "communication";
    case Lane::kLoader: return "loader";
    case Lane::kDeviceCompute: return "device compute";
    case Lane::kDeviceCommunication: return "device communication";
  }
  return "unknown";
}

}  // namespace ddbench
