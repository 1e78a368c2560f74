#include "analyzer/rate/measured_steps.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "analyzer/clocks/clock_alignment.h"
#include "core/span_limits.h"

namespace ddbench::analyzer {
namespace {

struct Bounds {
  std::int64_t begin_ns = std::numeric_limits<std::int64_t>::max();  ///< on the first rank
  std::int64_t end_ns = std::numeric_limits<std::int64_t>::min();    ///< on the last rank
};

/// Rows of a damaged store may hold any number: within the limits of a time no sum or difference overflows.
std::int64_t begin_of(const store::StepRecord& record) {
  return std::clamp(record.begin_ns, -kLatest_ns, kLatest_ns);
}
std::int64_t end_of(const store::StepRecord& record) {
  return std::clamp(add_ns(record.begin_ns, record.duration_ns), -kLatest_ns, kLatest_ns);
}

RunStep durations_of(std::span<const store::StepRecord> of_one_step) {
  RunStep step;
  step.step = of_one_step.front().step;
  step.fastest_ns = std::numeric_limits<double>::infinity();
  for (const store::StepRecord& record : of_one_step) {
    const auto duration_ns = static_cast<double>(record.duration_ns);
    step.probes_on = step.probes_on && record.probes_on;
    step.slowest_ns = std::max(step.slowest_ns, duration_ns);
    step.fastest_ns = std::min(step.fastest_ns, duration_ns);
    step.mean_ns += duration_ns / static_cast<double>(of_one_step.size());
  }
  return step;
}

/// Puts the elapsed time together from steps in order.
class Elapsed {
 public:
  explicit Elapsed(MeasuredSteps& result) : result_(result) {}

  void add(RunStep step, const Bounds& bounds) {
    std::int64_t from_ns = bounds.begin_ns;
    if (last_end_ns_) {
      from_ns = std::max(from_ns, *last_end_ns_);
      result_.left_out_ns += from_ns - *last_end_ns_;
    }
    const std::int64_t to_ns = std::max(bounds.end_ns, from_ns);
    step.added_ns = to_ns - from_ns;
    result_.elapsed_ns += step.added_ns;
    result_.steps.push_back(step);
    last_end_ns_ = to_ns;
  }

 private:
  MeasuredSteps& result_;
  std::optional<std::int64_t> last_end_ns_;
};

/// The steps' bounds on the reference clock, or on that of one rank.
class StepBounds {
 public:
  StepBounds(const ClockAlignment& clocks, std::span<const store::RankRecord> ranks) : clocks_(clocks) {
    for (std::size_t place = 0; place < ranks.size(); ++place) places_[ranks[place].rank] = place;
  }

  Bounds on_reference(std::span<const store::StepRecord> of_one_step) const {
    Bounds bounds;
    for (const store::StepRecord& record : of_one_step) {
      const auto place = places_.find(record.rank);
      if (place == places_.end()) continue;
      const auto aligned = [&](std::int64_t local_ns) { return clocks_.to_reference(place->second, local_ns); };
      bounds.begin_ns = std::min(bounds.begin_ns, aligned(begin_of(record)));
      bounds.end_ns = std::max(bounds.end_ns, aligned(end_of(record)));
    }
    return bounds;
  }

  static Bounds on_rank(std::span<const store::StepRecord> of_one_step, int rank) {
    for (const store::StepRecord& record : of_one_step) {
      if (record.rank == rank) return {begin_of(record), end_of(record)};
    }
    return {};
  }

 private:
  const ClockAlignment& clocks_;
  std::map<int, std::size_t> places_;
};

using StepGroups = std::vector<std::span<const store::StepRecord>>;

StepGroups complete_steps(std::span<const store::StepRecord> records, std::uint32_t first_step,
                          std::size_t rank_count) {
  StepGroups groups;
  for (std::size_t begin = 0, end = 0; begin < records.size(); begin = end) {
    while (end < records.size() && records[end].step == records[begin].step) ++end;
    if (records[begin].step >= first_step && end - begin == rank_count)
      groups.push_back(records.subspan(begin, end - begin));
  }
  return groups;
}

int slowest_rank(const StepGroups& groups) {
  std::map<int, std::int64_t> totals_ns;
  for (const auto& group : groups) {
    for (const store::StepRecord& record : group)
      totals_ns[record.rank] = add_ns(totals_ns[record.rank], record.duration_ns);
  }
  const auto slowest = std::max_element(totals_ns.begin(), totals_ns.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  return slowest == totals_ns.end() ? 0 : slowest->first;
}

}  // namespace

MeasuredSteps measured_steps(std::span<const store::StepRecord> records, std::uint32_t first_step,
                             std::span<const store::RankRecord> ranks, std::size_t rank_count) {
  const StepGroups groups = complete_steps(records, first_step, rank_count);
  const ClockAlignment clocks(ranks);
  const StepBounds bounds(clocks, ranks);
  MeasuredSteps result;
  result.clocks_known = clocks.known() || rank_count == 1;
  const int rank = slowest_rank(groups);
  const bool is_aligned = clocks.known() && ranks.size() == rank_count;
  Elapsed elapsed(result);
  for (const auto& group : groups) {
    const Bounds here = is_aligned ? bounds.on_reference(group) : StepBounds::on_rank(group, rank);
    if (here.begin_ns <= here.end_ns) elapsed.add(durations_of(group), here);
  }
  return result;
}

}  // namespace ddbench::analyzer
