#include "reports/formats/perfetto/collective_meetings.h"

#include <algorithm>

namespace ddbench::reports::trace {

bool can_be_shown(const Span& span) {
  return span.begin_ns <= span.end_ns;  // the store limits how far times may be from 0 (core/span_limits.h)
}

void CollectiveMeetings::add_rank(int rank, std::span<const Span> spans, const ClockMap& clock) {
  for (const Span& span : spans) {
    if (!can_be_shown(span)) {
      ++damaged_;
      continue;
    }
    const std::int64_t begin_ns = clock.to_reference(span.begin_ns);
    const std::int64_t end_ns = clock.to_reference(span.end_ns);
    origin_ns_ = any_ ? std::min(origin_ns_, begin_ns) : begin_ns;
    end_ns_ = any_ ? std::max(end_ns_, end_ns) : end_ns;
    any_ = true;
    if (span.kind != SpanKind::kCommunication || span.correlation == 0) continue;
    const auto [found, is_new] = meetings_.try_emplace(span.correlation);
    Meeting& meeting = found->second;
    if (is_new) {
      meeting = {begin_ns, begin_ns, rank, rank, rank, 1, static_cast<std::uint32_t>(meetings_.size())};
      continue;
    }
    meeting.ranks += rank != meeting.latest_rank;
    meeting.latest_rank = rank;
    if (begin_ns < meeting.first_ns) {
      meeting.first_ns = begin_ns;
      meeting.first_rank = rank;
    }
    if (begin_ns >= meeting.last_ns) {
      meeting.last_ns = begin_ns;
      meeting.last_rank = rank;
    }
  }
}

const Meeting* CollectiveMeetings::find(const Span& span) const {
  if (span.kind != SpanKind::kCommunication || span.correlation == 0) return nullptr;
  const auto found = meetings_.find(span.correlation);
  return found == meetings_.end() || found->second.ranks < 2 ? nullptr : &found->second;
}

}  // namespace ddbench::reports::trace
