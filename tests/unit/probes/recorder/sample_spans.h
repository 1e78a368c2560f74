#pragma once

#include <cstdint>

#include "core/span.h"

namespace ddbench::testing {

/// A span that differs from those of other numbers in every field that a ring or a spool could mix up.
inline Span numbered_span(std::uint64_t number, std::uint32_t name_id = 0) {
  Span span;
  span.begin_ns = static_cast<std::int64_t>(number * 10);
  span.end_ns = static_cast<std::int64_t>(number * 10 + 7);
  span.bytes = number * 3;
  span.correlation = ~number;
  span.name_id = name_id;
  span.step = static_cast<std::uint32_t>(number);
  span.kind = SpanKind::kForward;
  span.bucket = static_cast<std::uint16_t>(number);
  return span;
}

}  // namespace ddbench::testing
