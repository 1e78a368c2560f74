#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/run_case/records.h"
#include "core/span.h"
#include "gui/timeline/timeline_coverage.h"
#include "gui/timeline/timeline_nodes.h"
#include "gui/timeline/timeline_stragglers.h"

namespace ddbench::gui {

/// Spans of one lane whose durations lie within a factor of kClassFactor, sorted by begin. Stored as columns,
/// because drawing reads begins and ends of many spans and names of few. Times are aligned to the run's
/// reference clock.
struct SpanClass {
  std::int64_t longest_ns = 0;
  std::vector<std::int64_t> begin_ns;
  std::vector<std::int64_t> end_ns;
  std::vector<std::uint32_t> name;  ///< index into Timeline::names
  std::vector<std::uint32_t> step;
  std::vector<SpanKind> kind;

  std::size_t size() const noexcept { return begin_ns.size(); }
};
inline constexpr std::int64_t kClassFactor = 16;

/// A rank's execution lane: its spans, and its coverage from which it is drawn where spans are narrow.
struct TimelineLane : Coverage {
  int rank = 0;
  int node = 0;
  Lane lane = Lane::kMain;
  std::uint32_t queue = 0;  ///< of a GPU (device_queue)
  std::size_t spans = 0;
  std::vector<SpanClass> classes;  ///< shortest spans first
};

struct StepMark {
  std::uint32_t step = 0;
  std::int64_t begin_ns = 0;  ///< of the first rank that began it
};

/// All spans of a run, ready to be drawn at any scale. Immutable once built. About 30 bytes per span.
struct Timeline {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 1;
  std::vector<TimelineLane> lanes;  ///< by node, rank, lane, and device and stream
  std::vector<TimelineNode> nodes;  ///< of which ranks are grouped; empty: they are not (nodes_of)
  std::vector<std::string> names;
  std::vector<StepMark> steps;
  std::vector<Straggler> stragglers;  ///< by time
  std::size_t spans = 0;
  std::int64_t uncertainty_ns = 0;  ///< of the alignment of two ranks' clocks, at worst
  std::uint32_t first_measured = 0;  ///< step; those before are the warm-up
  std::size_t steps_without_probes = 0;  ///< they have no spans: the probes' overhead is measured on them

  /// "rank 3 communication", "rank 3 device compute GPU 1 stream 7".
  std::string lane_title(std::size_t lane) const;
  /// "node 1 (8 ranks)".
  std::string node_title(std::size_t node) const;
};

/// Takes the spans rank by rank. Not thread-safe.
class TimelineBuilder {
 public:
  TimelineBuilder();
  /// `spans` in any order; `names[name_id]`. Spans of kind kStep become step marks.
  void add_rank(const store::RankRecord& rank, std::span<const Span> spans,
                std::span<const std::string> names);
  /// The builder is empty afterwards.
  Timeline finish();

 private:
  std::uint32_t name_index(const std::string& name);

  Timeline timeline_;
  std::unordered_map<std::string, std::uint32_t> name_index_;
  std::unordered_map<std::uint32_t, std::int64_t> step_begin_;
  Arrivals arrivals_;
};

/// A span found by time or name.
struct SpanPlace {
  std::size_t lane = 0;
  std::size_t span_class = 0;
  std::size_t index = 0;
};

std::int64_t begin_of(const Timeline& timeline, const SpanPlace& place);
std::int64_t end_of(const Timeline& timeline, const SpanPlace& place);

/// The shortest span of the lane that contains `at_ns` or lies within `reach_ns` of it.
std::unique_ptr<SpanPlace> span_at(const Timeline& timeline, std::size_t lane, std::int64_t at_ns,
                                   std::int64_t reach_ns);

}  // namespace ddbench::gui
