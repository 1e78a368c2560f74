#include "analyzer/attribution/collective_join.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/span_limits.h"
#include "core/threads/pipeline.h"

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kEntriesAtOnce = 256;

std::string function_of(const CollectivePart& part, std::span<const std::string> names) {
  return part.name_id < names.size() ? names[part.name_id] : "unknown";
}

}  // namespace

bool needs_all_ranks(std::string_view function) {
  constexpr std::array kFunctions = {std::string_view("all_reduce"),     std::string_view("all_gather"),
                                     std::string_view("reduce_scatter"), std::string_view("all_to_all"),
                                     std::string_view("barrier"),        std::string_view("negotiate")};
  return std::find(kFunctions.begin(), kFunctions.end(), function) != kFunctions.end();
}

OwnCollectives own_collectives(std::span<const Span> spans, StepRange range) {
  OwnCollectives own;
  for (const Span& span : spans) {
    if (span.kind != SpanKind::kCommunication) continue;
    if (span.correlation == 0) own.without_correlation += range.holds(span.step);
    if (span.correlation == 0 || span.end_ns < span.begin_ns) continue;
    own.parts.push_back({span.correlation, span.begin_ns, span.end_ns, span.bytes, span.name_id, span.step, span.bucket});
  }
  std::stable_sort(own.parts.begin(), own.parts.end(),
                   [](const CollectivePart& a, const CollectivePart& b) { return a.correlation < b.correlation; });
  std::size_t kept = 0;
  for (const CollectivePart& part : own.parts) {
    if (kept > 0 && own.parts[kept - 1].correlation == part.correlation) {
      CollectivePart& first = own.parts[kept - 1];
      first.begin_ns = std::min(first.begin_ns, part.begin_ns);
      first.end_ns = std::max(first.end_ns, part.end_ns);
    } else {
      own.parts[kept++] = part;
    }
  }
  own.parts.resize(kept);
  return own;
}

CollectiveJoin::Entry& CollectiveJoin::entry_of(const CollectivePart& part, std::span<const std::string> names) {
  const auto [place, is_new] = by_key_.try_emplace(part.correlation, entries_.size());
  if (!is_new) return entries_[place->second];
  Entry& entry = entries_.emplace_back();
  const int bucket = part.bucket == kNoBucket ? -1 : part.bucket;
  entry.kind = {function_of(part, names), bucket, part.bytes, CommunicatorMembers::number_of(part.correlation)};
  entry.correlation = part.correlation;
  entry.step = part.step;
  return entry;
}

void CollectiveJoin::add_rank(std::size_t rank, const OwnCollectives& own, std::span<const std::string> names) {
  without_correlation_ += own.without_correlation;
  parts_ += own.parts.size();
  members_.add_names(names);
  for (const CollectivePart& part : own.parts) {
    members_.add(part.correlation, rank, part.begin_ns);
    Entry& entry = entry_of(part, names);
    places_[rank].push_back({static_cast<std::size_t>(&entry - entries_.data()), entry.ranks.size()});
    entry.ranks.push_back({rank, part.begin_ns, part.end_ns});
    entry.kind.bytes = std::max(entry.kind.bytes, part.bytes);
  }
}

void CollectiveJoin::join(std::size_t threads) {
  for (Entry& entry : entries_) {
    entry.joined = entry.ranks.size() == members_.expected(entry.correlation);
    if (!entry.joined) continue;
    entry.second = clocks_.second_of(entry.ranks.front().rank, entry.ranks.front().begin_ns);
    if (readings_.known() && needs_all_ranks(entry.kind.function)) clocks_.add(entry.second, entry.ranks);
  }
  clocks_.solve();
  const auto nothing = [](std::size_t) { return 0; };
  const auto measure = [&](std::size_t block, int) {
    for (std::size_t at = block * kEntriesAtOnce; at < std::min(entries_.size(), (block + 1) * kEntriesAtOnce); ++at) {
      if (!entries_[at].joined) continue;
      find_last_arrival(entries_[at]);
      measure_waits(entries_[at]);
      measure_transfer(entries_[at]);
    }
    return 0;
  };
  pipeline((entries_.size() + kEntriesAtOnce - 1) / kEntriesAtOnce, threads, nothing, measure, [](std::size_t, int) {});
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

void CollectiveJoin::measure_waits(Entry& entry) const {
  entry.waits.resize(entry.ranks.size());
  for (std::size_t at = 0; at < entry.ranks.size(); ++at) {
    const Attendance& rank = entry.ranks[at];
    Wait& wait = entry.waits[at];
    wait.uncertainty_ns = clocks_.uncertainty_ns(entry.second, rank.rank, entry.last_rank);
    if (!readings_.known()) continue;
    const std::int64_t arrival_ns = clocks_.to_reference(entry.second, rank.rank, rank.begin_ns);
    wait.wait_ns = std::max<std::int64_t>(0, entry.last_arrival_ns - arrival_ns);
  }
}

/// The last rank to arrive does not wait: its whole span is transfer, and one clock measures it. If the
/// clocks cannot decide which rank was last, the shortest span among the candidates is taken. The time by
/// which the last rank ended later is added, as far as the clocks resolve it: differences of two clocks alone
/// would be biased, because the latest of several uncertain times is later than the true latest.
void CollectiveJoin::measure_transfer(Entry& entry) const {
  const Attendance* last = nullptr;
  const auto duration_ns = [](const Attendance& rank) { return rank.end_ns - rank.begin_ns; };
  for (std::size_t at = 0; at < entry.ranks.size(); ++at) {
    const Attendance& rank = entry.ranks[at];
    const bool may_be_last = !readings_.known() || entry.waits[at].wait_ns <= entry.waits[at].uncertainty_ns;
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

template <typename Visit>
void CollectiveJoin::visit_joined(std::size_t rank, const Visit& visit) const {
  for (const Place& place : places_[rank]) {
    const Entry& entry = entries_[place.entry];
    if (entry.joined) visit(entry, entry.ranks[place.in_ranks], entry.waits[place.in_ranks]);
  }
}

LastArrivals CollectiveJoin::last_arrivals(std::size_t rank) const {
  LastArrivals arrivals;
  if (!readings_.known()) return arrivals;
  visit_joined(rank, [&](const Entry& entry, const Attendance& own, const Wait& wait) {
    if (wait.wait_ns >= wait.uncertainty_ns) arrivals[entry.correlation] = own.begin_ns + wait.wait_ns;
  });
  return arrivals;
}

std::map<std::uint32_t, std::int64_t> CollectiveJoin::wait_uncertainties_ns(std::size_t rank) const {
  std::map<std::uint32_t, std::int64_t> sums_ns;
  visit_joined(rank, [&](const Entry& entry, const Attendance&, const Wait& wait) {
    std::int64_t& sum_ns = sums_ns[entry.step];
    sum_ns = add_ns(sum_ns, wait.uncertainty_ns);
  });
  return sums_ns;
}

void CollectiveJoin::add_totals(CollectiveTotals& totals) const {
  for (const Entry& entry : entries_) {
    if (range_.holds(entry.step) && entry.joined)
      totals.add_collective(entry.kind, entry.transfer_ns, entry.transfer_uncertainty_ns);
  }
}

void CollectiveJoin::add_totals_of_rank(std::size_t rank, CollectiveTotals& totals) const {
  visit_joined(rank, [&](const Entry& entry, const Attendance& own, const Wait& wait) {
    if (!range_.holds(entry.step)) return;
    totals.add_share_of_rank(entry.kind, own.end_ns - own.begin_ns, wait.wait_ns, wait.uncertainty_ns);
  });
}

std::uint64_t CollectiveJoin::incomplete() const {
  const auto is_incomplete = [this](const Entry& entry) { return range_.holds(entry.step) && !entry.joined; };
  return without_correlation_ + static_cast<std::uint64_t>(std::count_if(entries_.begin(), entries_.end(), is_incomplete));
}

}  // namespace ddbench::analyzer
