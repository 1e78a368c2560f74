#include "gui/timeline/timeline.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "core/program/device_span.h"

namespace ddbench::gui {
namespace {

constexpr std::int64_t kShortestClass_ns = 1'000;

std::size_t class_of(std::int64_t duration_ns) {
  std::size_t index = 0;
  for (std::int64_t limit = kShortestClass_ns; duration_ns >= limit && index < 12; limit *= kClassFactor)
    ++index;
  return index;
}

void sort_by_begin(SpanClass& all) {
  std::vector<std::uint32_t> order(all.size());
  std::iota(order.begin(), order.end(), 0U);
  if (std::is_sorted(all.begin_ns.begin(), all.begin_ns.end())) return;
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return all.begin_ns[a] < all.begin_ns[b]; });
  const auto arrange = [&](auto& column) {
    std::remove_reference_t<decltype(column)> sorted;
    sorted.reserve(column.size());
    for (const std::uint32_t i : order) sorted.push_back(column[i]);
    column = std::move(sorted);
  };
  arrange(all.begin_ns);
  arrange(all.end_ns);
  arrange(all.name);
  arrange(all.step);
  arrange(all.kind);
}

void build_coverage(TimelineLane& lane, std::int64_t begin_ns, std::int64_t end_ns) {
  KindsSeen kinds{};
  for (const SpanClass& each : lane.classes) {
    for (const SpanKind kind : each.kind) kinds[static_cast<std::size_t>(kind)] = true;
  }
  CoverageBuilder coverage(begin_ns, end_ns, lane.spans, kinds);
  for (const SpanClass& each : lane.classes) {
    for (std::size_t i = 0; i < each.size(); ++i)
      coverage.add(each.begin_ns[i], each.end_ns[i], each.kind[i]);
  }
  static_cast<Coverage&>(lane) = coverage.finish();
}

const SpanClass& class_at(const Timeline& timeline, const SpanPlace& place) {
  return timeline.lanes[place.lane].classes[place.span_class];
}

}  // namespace

std::string Timeline::lane_title(std::size_t lane) const {
  std::string kind(to_string(lanes[lane].lane));
  std::replace(kind.begin(), kind.end(), '_', ' ');
  return "rank " + std::to_string(lanes[lane].rank) + " " + kind + queue_title(lanes[lane].queue);
}

std::string Timeline::node_title(std::size_t node) const {
  const TimelineNode& own = nodes[node];
  return "node " + std::to_string(own.node) + " (" + std::to_string(own.ranks) + (own.ranks == 1 ? " rank)" : " ranks)");
}

TimelineBuilder::TimelineBuilder() {
  timeline_.begin_ns = std::numeric_limits<std::int64_t>::max();
  timeline_.end_ns = std::numeric_limits<std::int64_t>::min();
}

std::uint32_t TimelineBuilder::name_index(const std::string& name) {
  const auto [found, is_new] =
      name_index_.try_emplace(name, static_cast<std::uint32_t>(timeline_.names.size()));
  if (is_new) timeline_.names.push_back(name);
  return found->second;
}

void TimelineBuilder::add_rank(const store::RankRecord& rank, std::span<const Span> spans,
                               std::span<const std::string> names) {
  std::vector<std::uint32_t> names_of_rank;
  for (const std::string& name : names) names_of_rank.push_back(name_index(name));
  const std::uint32_t unnamed = name_index("");
  timeline_.uncertainty_ns = std::max(timeline_.uncertainty_ns, rank.clock.uncertainty_ns());
  std::map<std::pair<Lane, std::uint32_t>, TimelineLane> lanes;  // by lane, and device with stream
  for (const Span& span : spans) {
    const std::int64_t begin = rank.clock.to_reference(span.begin_ns);
    const std::int64_t end = rank.clock.to_reference(std::max(span.end_ns, span.begin_ns));
    timeline_.begin_ns = std::min(timeline_.begin_ns, begin);
    timeline_.end_ns = std::max(timeline_.end_ns, end);
    if (span.kind == SpanKind::kStep) {
      const auto [found, is_new] = step_begin_.try_emplace(span.step, begin);
      if (!is_new) found->second = std::min(found->second, begin);
      continue;
    }
    TimelineLane& lane = lanes[{span.lane, span.reserved}];
    const std::size_t index = class_of(end - begin);
    if (lane.classes.size() <= index) lane.classes.resize(index + 1);
    SpanClass& own = lane.classes[index];
    arrivals_.add(span, rank.rank, begin);
    own.longest_ns = std::max(own.longest_ns, end - begin);
    own.begin_ns.push_back(begin);
    own.end_ns.push_back(end);
    own.name.push_back(span.name_id < names_of_rank.size() ? names_of_rank[span.name_id] : unnamed);
    own.step.push_back(span.step);
    own.kind.push_back(span.kind);
    ++lane.spans;
  }
  for (auto& [which, lane] : lanes) {
    lane.rank = rank.rank;
    lane.node = rank.node;
    lane.lane = which.first;
    lane.queue = which.second;
    std::erase_if(lane.classes, [](const SpanClass& each) { return each.size() == 0; });
    for (SpanClass& each : lane.classes) {
      sort_by_begin(each);
      each.begin_ns.shrink_to_fit();
      each.end_ns.shrink_to_fit();
      each.name.shrink_to_fit();
      each.step.shrink_to_fit();
      each.kind.shrink_to_fit();
    }
    timeline_.spans += lane.spans;
    timeline_.lanes.push_back(std::move(lane));
  }
}

Timeline TimelineBuilder::finish() {
  if (timeline_.end_ns <= timeline_.begin_ns) {
    timeline_.begin_ns = timeline_.spans == 0 ? 0 : timeline_.begin_ns;
    timeline_.end_ns = timeline_.begin_ns + 1;
  }
  std::stable_sort(timeline_.lanes.begin(), timeline_.lanes.end(), [](const TimelineLane& a, const TimelineLane& b) {
    return a.node != b.node ? a.node < b.node : a.rank < b.rank;
  });
  for (TimelineLane& lane : timeline_.lanes) build_coverage(lane, timeline_.begin_ns, timeline_.end_ns);
  timeline_.nodes = nodes_of(timeline_);
  for (const auto& [step, begin] : step_begin_) timeline_.steps.push_back({step, begin});
  std::sort(timeline_.steps.begin(), timeline_.steps.end(),
            [](const StepMark& a, const StepMark& b) { return a.begin_ns < b.begin_ns; });
  name_index_.clear();
  step_begin_.clear();
  timeline_.stragglers = arrivals_.finish(2 * timeline_.uncertainty_ns);
  Timeline done = std::move(timeline_);
  timeline_ = TimelineBuilder().timeline_;
  return done;
}

std::int64_t begin_of(const Timeline& timeline, const SpanPlace& place) {
  return class_at(timeline, place).begin_ns[place.index];
}

std::int64_t end_of(const Timeline& timeline, const SpanPlace& place) {
  return class_at(timeline, place).end_ns[place.index];
}

std::unique_ptr<SpanPlace> span_at(const Timeline& timeline, std::size_t lane, std::int64_t at_ns,
                                   std::int64_t reach_ns) {
  const std::vector<SpanClass>& classes = timeline.lanes[lane].classes;
  std::unique_ptr<SpanPlace> best;
  std::int64_t best_distance = std::numeric_limits<std::int64_t>::max();
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const SpanClass& each = classes[c];
    const auto after = std::upper_bound(each.begin_ns.begin(), each.begin_ns.end(), at_ns + reach_ns);
    // Backwards from there; earlier ones have ended long ago.
    for (auto i = static_cast<std::size_t>(after - each.begin_ns.begin()); i-- > 0;) {
      if (each.begin_ns[i] + each.longest_ns + reach_ns < at_ns) break;
      if (each.end_ns[i] + reach_ns < at_ns) continue;
      const std::int64_t distance =
          std::max({std::int64_t{0}, each.begin_ns[i] - at_ns, at_ns - each.end_ns[i]});
      if (distance < best_distance) {
        best_distance = distance;
        best = std::make_unique<SpanPlace>(SpanPlace{lane, c, i});
      }
      if (distance == 0) break;
    }
    if (best && best_distance == 0) break;  // classes of longer spans follow
  }
  return best;
}

}  // namespace ddbench::gui
