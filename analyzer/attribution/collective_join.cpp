#include "analyzer/attribution/collective_join.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/span_limits.h"

namespace ddbench::analyzer {
namespace {

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

bool needs_all_ranks(std::string_view function) {
  constexpr std::array kFunctions = {std::string_view("all_reduce"),     std::string_view("all_gather"),
                                     std::string_view("reduce_scatter"), std::string_view("all_to_all"),
                                     std::string_view("barrier"),        std::string_view("negotiate")};
  return std::find(kFunctions.begin(), kFunctions.end(), function) != kFunctions.end();
}

void CollectiveJoin::add_rank(std::size_t rank, std::span<const Span> spans,
                              std::span<const std::string> names) {
  for (const Span& span : spans) {
    const bool lacks_key = span.kind == SpanKind::kCommunication && span.correlation == 0;
    if (lacks_key && range_.holds(span.step)) ++without_correlation_;
  }
  members_.add_names(names);
  for (const auto& [correlation, part] : own_parts(spans)) {
    members_.add(correlation, rank, part.begin_ns);
    Entry& entry = entries_[correlation];
    if (entry.ranks.empty()) {
      const Span& span = *part.first;
      const int bucket = span.bucket == kNoBucket ? -1 : span.bucket;
      entry.kind = {function_of(span, names), bucket, span.bytes, CommunicatorMembers::number_of(correlation)};
      entry.step = span.step;
    }
    entry.ranks.push_back({rank, part.begin_ns, part.end_ns});
    entry.kind.bytes = std::max(entry.kind.bytes, part.first->bytes);
  }
}

void CollectiveJoin::join() {
  for (auto& [correlation, entry] : entries_) {
    if (!joined(correlation, entry)) continue;
    entry.second = clocks_.second_of(entry.ranks.front().rank, entry.ranks.front().begin_ns);
    if (readings_.known() && needs_all_ranks(entry.kind.function)) clocks_.add(entry.second, entry.ranks);
  }
  clocks_.solve();
  for (auto& [correlation, entry] : entries_) {
    if (!joined(correlation, entry)) continue;
    find_last_arrival(entry);
    measure_transfer(entry);
  }
}

void CollectiveJoin::find_last_arrival(Entry& entry) const {
  bool is_first = true;
  for (const Attendance& rank : entry.ranks) {
    const std::int64_t arrival_ns = clocks_.to_reference(entry.second, rank.rank, rank.begin_ns);
    if (!is_first && arrival_ns <= entry.last_arrival_ns) continue;
    is_first = false;
    entry.last_rank = rank.rank;
    entry.last_arrival_ns = arrival_ns;
  }
}

/// The last rank to arrive does not wait: its whole span is transfer, and one clock measures it. If the
/// clocks cannot decide which rank was last, the shortest span among the candidates is taken. The time by
/// which the last rank ended later is added, as far as the clocks resolve it: differences of two clocks alone
/// would be biased, because the latest of several uncertain times is later than the true latest.
void CollectiveJoin::measure_transfer(Entry& entry) const {
  const Attendance* last = nullptr;
  const auto duration_ns = [](const Attendance& rank) { return rank.end_ns - rank.begin_ns; };
  for (const Attendance& rank : entry.ranks) {
    const bool may_be_last = !readings_.known() || wait_ns(rank.rank, rank.begin_ns, entry) <=
                                                       wait_uncertainty_ns(rank.rank, entry);
    if (may_be_last && (last == nullptr || duration_ns(rank) < duration_ns(*last))) last = &rank;
  }
  entry.transfer_ns = duration_ns(*last);
  if (!readings_.known()) return;
  const std::int64_t own_end_ns = clocks_.to_reference(entry.second, last->rank, last->end_ns);
  for (const Attendance& rank : entry.ranks) {
    const std::int64_t later_ns = clocks_.to_reference(entry.second, rank.rank, rank.end_ns) - own_end_ns;
    const std::int64_t uncertainty_ns = clocks_.uncertainty_ns(entry.second, rank.rank, last->rank);
    entry.transfer_uncertainty_ns = std::max(entry.transfer_uncertainty_ns, uncertainty_ns);
    if (later_ns <= uncertainty_ns) continue;
    entry.transfer_ns = std::max(entry.transfer_ns, duration_ns(*last) + later_ns);
  }
}

bool CollectiveJoin::joined(std::uint64_t correlation, const Entry& entry) const {
  return entry.ranks.size() == members_.expected(correlation);
}

const CollectiveJoin::Entry* CollectiveJoin::find_joined(std::uint64_t correlation) const {
  const auto found = entries_.find(correlation);
  return found != entries_.end() && joined(correlation, found->second) ? &found->second : nullptr;
}

std::int64_t CollectiveJoin::wait_ns(std::size_t rank, std::int64_t own_begin_ns, const Entry& entry) const {
  if (!readings_.known()) return 0;
  const std::int64_t arrival_ns = clocks_.to_reference(entry.second, rank, own_begin_ns);
  return std::max<std::int64_t>(0, entry.last_arrival_ns - arrival_ns);
}

std::int64_t CollectiveJoin::wait_uncertainty_ns(std::size_t rank, const Entry& entry) const {
  return clocks_.uncertainty_ns(entry.second, rank, entry.last_rank);
}

LastArrivals CollectiveJoin::last_arrivals(std::size_t rank, std::span<const Span> spans) const {
  LastArrivals arrivals;
  if (!readings_.known()) return arrivals;
  for (const auto& [correlation, part] : own_parts(spans)) {
    const Entry* entry = find_joined(correlation);
    if (entry == nullptr) continue;
    const std::int64_t own_wait_ns = wait_ns(rank, part.begin_ns, *entry);
    if (own_wait_ns < wait_uncertainty_ns(rank, *entry)) continue;
    arrivals[correlation] = part.begin_ns + own_wait_ns;
  }
  return arrivals;
}

std::map<std::uint32_t, std::int64_t> CollectiveJoin::wait_uncertainties_ns(std::size_t rank) const {
  std::map<std::uint32_t, std::int64_t> sums_ns;
  for (const auto& [correlation, entry] : entries_) {
    if (!joined(correlation, entry)) continue;
    sums_ns[entry.step] = add_ns(sums_ns[entry.step], wait_uncertainty_ns(rank, entry));
  }
  return sums_ns;
}

void CollectiveJoin::add_totals(CollectiveTotals& totals) const {
  for (const auto& [correlation, entry] : entries_) {
    if (range_.holds(entry.step) && joined(correlation, entry))
      totals.add_collective(entry.kind, entry.transfer_ns, entry.transfer_uncertainty_ns);
  }
}

void CollectiveJoin::add_totals_of_rank(std::size_t rank, std::span<const Span> spans,
                                        CollectiveTotals& totals) const {
  for (const auto& [correlation, part] : own_parts(spans)) {
    const Entry* entry = find_joined(correlation);
    if (entry == nullptr || !range_.holds(entry->step)) continue;
    totals.add_share_of_rank(entry->kind, part.end_ns - part.begin_ns, wait_ns(rank, part.begin_ns, *entry),
                             wait_uncertainty_ns(rank, *entry));
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
