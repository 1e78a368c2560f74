#include "analyzer/import/trace/align_clocks.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analyzer/attribution/collective_join.h"
#include "analyzer/clocks/causal_clocks.h"
#include "analyzer/clocks/clock_alignment.h"
#include "core/run_case/records.h"
#include "core/span_limits.h"

namespace ddbench::imports {
namespace {

// Pairs of ranks grow with the square of their number.
constexpr std::size_t kMostForAllPairs = 16;
// The range of offsets before the first collective was examined, and for clocks that no collective narrowed:
// twelve days.
constexpr std::int64_t kWidest_ns = std::int64_t{1} << 50;
constexpr std::int64_t kNarrowed_ns = kWidest_ns / 2;

struct RecordedWindow {
  std::int64_t begin_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t end_ns = 0;
};

/// A reading "at 0" means that there is no reading.
ClockReading reading(std::int64_t at_ns, std::int64_t offset_ns, std::int64_t uncertainty_ns) {
  return {std::max<std::int64_t>(at_ns, 1), offset_ns, uncertainty_ns};
}

using Attendances = std::vector<std::vector<analyzer::Attendance>>;

Attendances attendances(const TraceJob& job) {
  std::unordered_map<std::uint64_t, std::vector<analyzer::Attendance>> by_key;
  for (std::size_t rank = 0; rank < job.traces.size(); ++rank) {
    const RankTrace& trace = job.traces[rank];
    for (const TraceCollective& collective : trace.collectives) {
      const Span& span = trace.spans.spans[collective.span];
      if (span.correlation == 0 || !analyzer::needs_all_ranks(collective.function)) continue;
      by_key[span.correlation].push_back({rank, span.begin_ns, span.end_ns});
    }
  }
  Attendances all;
  for (auto& [key, ranks] : by_key) {
    if (ranks.size() > 1) all.push_back(std::move(ranks));
  }
  return all;
}

RecordedWindow recorded_window(const RankTrace& trace) {
  RecordedWindow window;
  for (const Span& span : trace.spans.spans) {
    window.begin_ns = std::min(window.begin_ns, span.begin_ns);
    window.end_ns = std::max(window.end_ns, span.end_ns);
  }
  return window;
}

std::int64_t median_of(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

bool has_clock_of_first(const TraceJob& job, std::size_t rank) {
  return !job.traces.front().clock.empty() && job.traces[rank].clock == job.traces.front().clock;
}

constexpr std::int64_t kMostOffset_ns = 2 * kLatest_ns;

/// Approximate offsets for which collectives end at about the same time. Nothing for a rank that no
/// collective connects to the first.
std::vector<std::optional<std::int64_t>> rough_offsets(const Attendances& collectives, std::size_t ranks) {
  std::vector<std::optional<std::int64_t>> offsets(ranks);
  offsets.front() = 0;
  for (bool found = true; found;) {
    found = false;
    std::vector<std::vector<std::int64_t>> candidates(ranks);
    for (const auto& attendance : collectives) {
      const auto known = std::find_if(attendance.begin(), attendance.end(),
                                      [&](const auto& rank) { return offsets[rank.rank].has_value(); });
      if (known == attendance.end()) continue;
      const std::int64_t end_ns = add_ns(known->end_ns, *offsets[known->rank]);
      for (const analyzer::Attendance& rank : attendance) {
        if (!offsets[rank.rank]) candidates[rank.rank].push_back(std::clamp(add_ns(end_ns, -rank.end_ns), -kMostOffset_ns, kMostOffset_ns));
      }
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (candidates[rank].empty()) continue;
      offsets[rank] = median_of(std::move(candidates[rank]));
      found = true;
    }
  }
  return offsets;
}

}  // namespace

std::vector<ClockMap> align_clocks(const TraceJob& job) {
  const Attendances collectives = attendances(job);
  const auto rough_ns = rough_offsets(collectives, job.traces.size());
  std::vector<store::RankRecord> open(job.traces.size());
  open.front().clock.shared_clock = true;
  for (std::size_t rank = 1; rank < open.size(); ++rank) {
    open[rank].clock.shared_clock = has_clock_of_first(job, rank);
    open[rank].clock.start = open[rank].clock.end = reading(1, rough_ns[rank].value_or(0), kWidest_ns);
  }
  const analyzer::ClockAlignment alignment(open);
  analyzer::CausalClocks causal(alignment);
  for (const auto& ranks : collectives) {
    ranks.size() <= kMostForAllPairs ? causal.add_all_pairs(0, ranks) : causal.add(0, ranks);
  }
  causal.solve();
  std::vector<ClockMap> clocks(job.traces.size());
  clocks.front().shared_clock = true;
  for (std::size_t rank = 1; rank < clocks.size(); ++rank) {
    if ((clocks[rank].shared_clock = has_clock_of_first(job, rank))) continue;
    const RecordedWindow window = recorded_window(job.traces[rank]);
    const std::int64_t offset_ns = causal.to_reference(0, rank, window.begin_ns) - window.begin_ns;
    const std::int64_t uncertainty_ns = causal.uncertainty_ns(0, rank, 0);
    if (!rough_ns[rank] || uncertainty_ns >= kNarrowed_ns) continue;
    clocks[rank].start = reading(window.begin_ns, offset_ns, uncertainty_ns);
    clocks[rank].end = reading(window.end_ns, offset_ns, uncertainty_ns);
  }
  return clocks;
}

}  // namespace ddbench::imports
