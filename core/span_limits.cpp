#include "core/span_limits.h"

#include <fmt/format.h>

namespace ddbench {

std::string why_invalid(const Span& span, std::size_t names) {
  if (static_cast<int>(span.kind) >= kSpanKindCount) {
    return fmt::format("kind {} is unknown", static_cast<int>(span.kind));
  }
  if (static_cast<int>(span.lane) >= kLaneCount) {
    return fmt::format("lane {} is unknown", static_cast<int>(span.lane));
  }
  for (const std::int64_t time_ns : {span.begin_ns, span.end_ns}) {
    if (!is_time(time_ns)) return fmt::format("no clock shows {} ns", time_ns);
  }
  if (span.end_ns < span.begin_ns) {
    return fmt::format("it ends at {} ns, before it begins at {} ns", span.end_ns, span.begin_ns);
  }
  if (span.bytes > kMostBytes) return fmt::format("{} bytes are too many", span.bytes);
  if (span.step > kLastStep && span.step != kNoStep) return fmt::format("step {} is too large", span.step);
  if (span.name_id >= names) return fmt::format("name {} is not among the {} names", span.name_id, names);
  return {};
}

}  // namespace ddbench
