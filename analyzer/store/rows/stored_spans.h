#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/span.h"

namespace ddbench::store {

/// decode_spans_onto() for a chunk that was stored by anyone: throws as for a damaged chunk, too, when a span
/// is not within the limits of span_limits.h. The codec itself takes any span.
void decode_stored_spans(std::span<const std::byte> chunk, std::vector<Span>& out);

}  // namespace ddbench::store
