#include "collective_join.h"

#include <algorithm>

namespace ddbench::analyzer {
namespace {

constexpr unsigned kSequenceBits = 48;  // collective_key()

/// A rank's own part in a collective. Several spans of one collective (host and device side) are one part.
struct OwnPart {
  const Span* first = nullptr;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

std::unordered_map<std::uint64_t, OwnPart> own_parts(std::span<const Span> spans) {
  std::unordered_map<std::uint64_t, OwnPart> parts;
  for (const Span& span : spans) {
    if (span.kind != SpanKind::kCommunication || span.correlation == 0 || span.end_ns < span.begin_ns)
      continue;
    const auto [place, is_new] =
        parts.try_emplace(span.correlation, OwnPart{&span, span.begin_ns, span.end_ns});
    if (is_new) continue;
    place->second.begin_ns = std::min(place->second.begin_ns, span.begin_ns);
    place->second.end_ns = std::max(place->second.end_ns, span.end_ns);
  }
  return parts;
}

std::string function_of(const Span& span, std::span<const std::string> names) {
  return span.name_id < names.size() ? names[span.name_id] : "unknown";
}

}  // namespace

void CommunicatorMembers::add(std::uint64_t correlation, std::size_t rank) {
  members_[correlation >> kSequenceBits].insert(rank);
  seen_.insert(rank);
}

std::size_t CommunicatorMembers::expected(std::uint64_t correlation) const {
  const auto found = members_.find(correlation >> kSequenceBits);
  return (found == members_.end() ? 0 : found->second.size()) + ranks_ - seen_.size();
}

void CollectiveJoin::add_rank(std::size_t rank, std::span<const Span> spans,
                              std::span<const std::string> names) {
  for (const Span& span : spans) {
    const bool lacks_key = span.kind == SpanKind::kCommunication && span.correlation == 0;
    if (lacks_key && range_.holds(span.step)) ++without_correlation_;
  }
  for (const auto& [correlation, part] : own_parts(spans)) {
    members_.add(correlation, rank);
    const std::int64_t arrival_ns = clocks_.to_reference(rank, part.begin_ns);
    const std::int64_t end_ns = clocks_.to_reference(rank, part.end_ns);
    const std::int64_t duration_ns = part.end_ns - part.begin_ns;
    Entry& entry = entries_[correlation];
    if (entry.ranks == 0) {
      const Span& span = *part.first;
      const int bucket = span.bucket == kNoBucket ? -1 : span.bucket;
      entry = {{function_of(span, names), bucket, span.bytes},
               span.step,
               0,
               rank,
               arrival_ns,
               end_ns,
               duration_ns};
    }
    ++entry.ranks;
    if (arrival_ns > entry.last_arrival_ns) entry.last_rank = rank;
    entry.last_arrival_ns = std::max(entry.last_arrival_ns, arrival_ns);
    entry.last_end_ns = std::max(entry.last_end_ns, end_ns);
    entry.shortest_ns = std::min(entry.shortest_ns, duration_ns);
    entry.kind.bytes = std::max(entry.kind.bytes, part.first->bytes);
  }
}

bool CollectiveJoin::joined(std::uint64_t correlation, const Entry& entry) const {
  return entry.ranks == members_.expected(correlation);
}

const CollectiveJoin::Entry* CollectiveJoin::find_joined(std::uint64_t correlation) const {
  const auto found = entries_.find(correlation);
  return found != entries_.end() && joined(correlation, found->second) ? &found->second : nullptr;
}

std::int64_t CollectiveJoin::wait_ns(std::size_t rank, std::int64_t own_begin_ns, const Entry& entry) const {
  if (!clocks_.known()) return 0;
  return std::max<std::int64_t>(0, entry.last_arrival_ns - clocks_.to_reference(rank, own_begin_ns));
}

std::int64_t CollectiveJoin::transfer_ns(const Entry& entry) const {
  // Without a common time line: the rank that arrives last waits for nobody, and its part is the shortest.
  if (!clocks_.known()) return entry.shortest_ns;
  return std::max<std::int64_t>(0, entry.last_end_ns - entry.last_arrival_ns);
}

LastArrivals CollectiveJoin::last_arrivals(std::size_t rank, std::span<const Span> spans) const {
  LastArrivals arrivals;
  if (!clocks_.known()) return arrivals;
  for (const auto& [correlation, part] : own_parts(spans)) {
    const Entry* entry = find_joined(correlation);
    if (entry == nullptr) continue;
    if (wait_ns(rank, part.begin_ns, *entry) < clocks_.uncertainty_ns(rank, entry->last_rank)) continue;
    arrivals[correlation] = clocks_.to_local(rank, entry->last_arrival_ns);
  }
  return arrivals;
}

void CollectiveJoin::add_totals(CollectiveTotals& totals) const {
  for (const auto& [correlation, entry] : entries_) {
    if (range_.holds(entry.step) && joined(correlation, entry))
      totals.add_collective(entry.kind, transfer_ns(entry));
  }
}

void CollectiveJoin::add_totals_of_rank(std::size_t rank, std::span<const Span> spans,
                                        CollectiveTotals& totals) const {
  for (const auto& [correlation, part] : own_parts(spans)) {
    const Entry* entry = find_joined(correlation);
    if (entry == nullptr || !range_.holds(entry->step)) continue;
    totals.add_share_of_rank(entry->kind, part.end_ns - part.begin_ns, wait_ns(rank, part.begin_ns, *entry),
                             clocks_.uncertainty_ns(rank, entry->last_rank));
  }
}

std::uint64_t CollectiveJoin::incomplete() const {
  std::uint64_t count = without_correlation_;
  for (const auto& [correlation, entry] : entries_) {
    count += range_.holds(entry.step) && !joined(correlation, entry);
  }
  return count;
}

}  // namespace ddbench::analyzer
