#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/span.h"

namespace ddbench::store {

/// Encodes spans as one columnar chunk (layout: FORMAT.md). Lossless for every Span, in any order.
std::vector<std::byte> encode_spans(std::span<const Span> spans);

/// Inverse of encode_spans. Throws Error{kRunFailed} that names the column on a truncated or damaged chunk;
/// never reads or writes out of bounds whatever the bytes are.
std::vector<Span> decode_spans(std::span<const std::byte> chunk);

/// The same, appended to `out`; on an Error `out` is as it was.
void decode_spans_onto(std::span<const std::byte> chunk, std::vector<Span>& out);

}  // namespace ddbench::store
