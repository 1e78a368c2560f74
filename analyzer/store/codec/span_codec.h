#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "core/span.h"

namespace ddbench::store {

/// Encodes spans as one columnar chunk (layout: FORMAT.md). Lossless for every Span, in any order.
std::vector<std::byte> encode_spans(std::span<const Span> spans);

/// Inverse of encode_spans. Throws Error{kRunFailed} that names the column on a truncated or damaged chunk;
/// never reads or writes out of bounds whatever the bytes are.
std::vector<Span> decode_spans(std::span<const std::byte> chunk);

/// The same, appended to `out`; on an Error `out` is as it was. A chunk of more than `most` spans is damaged: a few bytes can state
/// any number of equal ones.
void decode_spans_onto(std::span<const std::byte> chunk, std::vector<Span>& out, std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace ddbench::store
