#include "analyzer/attribution/arrivals.h"

#include <algorithm>

namespace ddbench::analyzer {

void LatestTwo::add(std::size_t member, std::int64_t arrival_ns) noexcept {
  if (!has_latest_ || (member != latest_ && arrival_ns > latest_ns_)) {
    second_ = latest_;
    second_ns_ = latest_ns_;
    has_second_ = has_latest_;
    latest_ = member;
    latest_ns_ = arrival_ns;
    has_latest_ = true;
  } else if (member == latest_) {
    latest_ns_ = std::max(latest_ns_, arrival_ns);
  } else if (!has_second_ || arrival_ns > second_ns_) {
    second_ = member;
    second_ns_ = arrival_ns;
    has_second_ = true;
  }
}

void add_arrivals(std::size_t rank, std::size_t node, std::span<const Span> spans,
                  const ClockAlignment& clocks, CommunicatorMembers& members,
                  std::unordered_map<std::uint64_t, CollectiveArrivals>& collectives) {
  // Host and device side of one collective are one arrival: the earlier.
  std::unordered_map<std::uint64_t, const Span*> own;
  for (const Span& span : spans) {
    if (span.kind != SpanKind::kCommunication || span.correlation == 0 || span.end_ns < span.begin_ns)
      continue;
    const auto [place, is_new] = own.try_emplace(span.correlation, &span);
    if (!is_new && span.begin_ns < place->second->begin_ns) place->second = &span;
  }
  for (const auto& [correlation, span] : own) {
    members.add(correlation, rank, span->begin_ns);
    const std::int64_t arrival_ns = clocks.to_reference(rank, span->begin_ns);
    CollectiveArrivals& collective = collectives[correlation];
    if (collective.ranks == 0) {
      collective.step = span->step;
      collective.first_ns = arrival_ns;
    }
    ++collective.ranks;
    collective.after_first_ns += static_cast<double>(arrival_ns - collective.first_ns);
    collective.by_rank.add(rank, arrival_ns);
    collective.by_node.add(node, arrival_ns);
  }
}

}  // namespace ddbench::analyzer
