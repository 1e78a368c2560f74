#include "gui/timeline/timeline_row.h"

#include <algorithm>
#include <cmath>

namespace ddbench::gui {
namespace {

void add_share(std::vector<float>& shares, SpanKind kind, double from, double to, int columns, double weight = 1) {
  from = std::max(from, 0.0);
  to = std::min(to, static_cast<double>(columns));
  if (!(to > from)) return;
  const auto last = std::min(static_cast<int>(to), columns - 1);
  for (int column = static_cast<int>(from); column <= last; ++column) {
    const double covered = std::min(to, column + 1.0) - std::max(from, static_cast<double>(column));
    shares[static_cast<std::size_t>(column) * kSpanKindCount + static_cast<std::size_t>(kind)] +=
        static_cast<float>(covered * weight);
  }
}

}  // namespace

void TimelineRow::clear(const TimeWindow& window) {
  shares_.assign(static_cast<std::size_t>(window.columns) * kSpanKindCount, 0);
  wide_.clear();
}

void TimelineRow::fill(const Timeline& timeline, std::size_t lane, const TimeWindow& window) {
  clear(window);
  const TimelineLane& own = timeline.lanes[lane];
  if (window.ns_per_column() >= static_cast<double>(own.bucket_ns)) {
    fill_from_coverage(own, timeline.begin_ns, window);
  } else {
    fill_from_spans(timeline, lane, window);
  }
}

void TimelineRow::fill_node(const Timeline& timeline, std::size_t node, const TimeWindow& window) {
  clear(window);
  const TimelineNode& own = timeline.nodes[node];
  if (window.ns_per_column() >= static_cast<double>(own.mean.bucket_ns))
    return fill_from_coverage(own.mean, timeline.begin_ns, window);
  visit_busy_pieces(timeline, own, static_cast<std::int64_t>(window.begin_ns),
                    static_cast<std::int64_t>(window.end_ns) + 1, [&](const BusyPiece& piece) {
                      add_share(shares_, piece.kind, window.column_of(static_cast<double>(piece.begin_ns)),
                                window.column_of(static_cast<double>(piece.end_ns)), window.columns, 1.0 / own.ranks);
                    });
}

void TimelineRow::fill_from_coverage(const Coverage& own, std::int64_t begin_ns, const TimeWindow& window) {
  if (own.kinds.empty()) return;
  std::size_t level = 0;
  double bucket_ns = static_cast<double>(own.bucket_ns);
  while (level + 1 < own.covered.size() && 2 * bucket_ns <= window.ns_per_column()) {
    ++level;
    bucket_ns *= 2;
  }
  const std::vector<std::uint8_t>& covered = own.covered[level];
  const std::size_t stride = own.kinds.size();
  const auto buckets = static_cast<std::int64_t>(covered.size() / stride);
  const double width = window.ns_per_column() / bucket_ns;
  for (int column = 0; column < window.columns; ++column) {
    const double from = (window.time_at(column) - static_cast<double>(begin_ns)) / bucket_ns;
    const double to = from + width;
    const auto first = std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(from)));
    const auto last = std::min<std::int64_t>(buckets, static_cast<std::int64_t>(std::ceil(to)));
    float* shares = shares_.data() + static_cast<std::size_t>(column) * kSpanKindCount;
    for (std::int64_t bucket = first; bucket < last; ++bucket) {
      const auto start = static_cast<double>(bucket);
      const auto weight =
          static_cast<float>((std::min(to, start + 1) - std::max(from, start)) / (255 * width));
      const std::uint8_t* cell = covered.data() + static_cast<std::size_t>(bucket) * stride;
      for (std::size_t k = 0; k < stride; ++k) {
        shares[static_cast<std::size_t>(own.kinds[k])] += static_cast<float>(cell[k]) * weight;
      }
    }
  }
}

void TimelineRow::fill_from_spans(const Timeline& timeline, std::size_t lane, const TimeWindow& window) {
  const std::vector<SpanClass>& classes = timeline.lanes[lane].classes;
  const auto begin = static_cast<std::int64_t>(window.begin_ns);
  const auto end = static_cast<std::int64_t>(window.end_ns) + 1;
  const double columns = window.columns;
  for (std::size_t c = classes.size(); c-- > 0;) {
    const SpanClass& each = classes[c];
    const auto first = std::lower_bound(each.begin_ns.begin(), each.begin_ns.end(), begin - each.longest_ns) -
                       each.begin_ns.begin();
    for (auto i = static_cast<std::size_t>(first); i < each.size() && each.begin_ns[i] < end; ++i) {
      const double from = window.column_of(static_cast<double>(each.begin_ns[i]));
      const double to = window.column_of(static_cast<double>(each.end_ns[i]));
      if (to < 0) continue;
      if (to - from < kOwnRectangle) {
        add_share(shares_, each.kind[i], from, std::max(to, from + 0.25), window.columns);
      } else {
        wide_.push_back({{lane, c, i}, std::max(from, 0.0), std::min(to, columns)});
      }
    }
  }
  nest();
}

/// Spans that only overlap lie beside each other.
void TimelineRow::nest() {
  std::stable_sort(wide_.begin(), wide_.end(),
                   [](const Wide& a, const Wide& b) { return a.from != b.from ? a.from < b.from : a.to > b.to; });
  std::vector<double> ends;  // of the spans around the current one
  for (Wide& wide : wide_) {
    while (!ends.empty() && (ends.back() <= wide.from || ends.back() < wide.to)) ends.pop_back();
    wide.depth = static_cast<int>(ends.size());
    ends.push_back(wide.to);
  }
}

}  // namespace ddbench::gui
