#include "reports/formats/perfetto/collective_meetings.h"

#include <algorithm>

namespace ddbench::reports::trace {

bool can_be_shown(const Span& span) {
  return span.begin_ns <= span.end_ns;  // the store limits how far times may be from 0 (core/span_limits.h)
}

namespace {

void arrive(Meeting& meeting, Meeting::Arrival arrival, bool is_shown) {
  const bool is_new = arrival.rank != meeting.latest_rank;
  meeting.latest_rank = arrival.rank;
  meeting.ranks += is_new;
  if (meeting.last.rank < 0 || arrival.at_ns >= meeting.last.at_ns) meeting.last = arrival;
  if (!is_shown) return;
  meeting.shown += is_new;
  if (meeting.first_shown.rank < 0 || arrival.at_ns < meeting.first_shown.at_ns) meeting.first_shown = arrival;
  if (meeting.last_shown.rank < 0 || arrival.at_ns >= meeting.last_shown.at_ns) meeting.last_shown = arrival;
}

}  // namespace

void CollectiveMeetings::add(int rank, bool is_shown, std::span<const Span> spans, const ClockMap& clock) {
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
    Meeting& meeting = meetings_[span.correlation];
    if (meeting.number == 0) meeting.number = static_cast<std::uint32_t>(meetings_.size());
    arrive(meeting, {begin_ns, rank}, is_shown);
  }
}

const Meeting* CollectiveMeetings::find(const Span& span) const {
  if (span.kind != SpanKind::kCommunication || span.correlation == 0) return nullptr;
  const auto found = meetings_.find(span.correlation);
  return found == meetings_.end() || found->second.ranks < 2 ? nullptr : &found->second;
}

}  // namespace ddbench::reports::trace
