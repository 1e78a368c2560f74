#include "analyzer/store/rows/stored_spans.h"

#include <fmt/format.h>

#include "analyzer/store/codec/chunk_bytes.h"
#include "analyzer/store/codec/chunk_layout.h"
#include "analyzer/store/codec/span_codec.h"
#include "core/span_limits.h"

namespace ddbench::store {

void decode_stored_spans(std::span<const std::byte> chunk, std::vector<Span>& out) {
  const std::size_t before = out.size();
  decode_spans_onto(chunk, out, kMaxSegmentSpans);
  for (std::size_t at = before; at < out.size(); ++at) {
    if (within_limits(out[at])) continue;
    const std::string why = fmt::format("span {} cannot be: {}", at - before, why_invalid(out[at]));
    out.resize(before);
    throw_damaged_chunk("values", why);
  }
}

}  // namespace ddbench::store
