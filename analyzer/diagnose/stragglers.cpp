#include "analyzer/diagnose/stragglers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyzer/attribution/arrivals.h"
#include "core/error.h"
#include "core/run_case/step_facts.h"

namespace ddbench::analyzer {
namespace {

constexpr std::uint32_t kFirstRangeSteps = 64;
constexpr std::uint64_t kSpansInARange = 500'000;  // of one rank: 24 MB
constexpr std::uint32_t kLongestRangeSteps = 1 << 16;
constexpr double kDearShareOfStep = 0.02;  // below the noise of a run there is nothing to chase
constexpr double kOftenOverChance = 1.5;

using Report = Measured<StragglerReport>;

class Search {
 public:
  Search(const store::RunStore& store, const store::RunRecord& run, std::vector<store::RankRecord> ranks)
      : store_(store),
        run_(run),
        ranks_(std::move(ranks)),
        clocks_(ranks_),
        members_(ranks_.size()),
        by_rank_(ranks_.size()) {
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      by_rank_[i].rank = ranks_[i].rank;
      by_rank_[i].node = ranks_[i].node;
      by_rank_[i].host = ranks_[i].host;
      members_.add_names(store_.span_names(run_.id, ranks_[i].rank));
      Straggler& node = by_node_[ranks_[i].node];
      node.node = ranks_[i].node;
      node.host = ranks_[i].host;
    }
  }

  bool clocks_known() const noexcept { return clocks_.known(); }

  Report search(int most_steps) {
    const std::uint32_t first = first_measured_step(run_.run_case, run_.environment.facts);
    const std::uint32_t recorded = std::max(store_.recorded_steps(run_), first) - first;
    const std::uint32_t end =
        first + (most_steps > 0 ? std::min(static_cast<std::uint32_t>(most_steps), recorded) : recorded);
    std::uint32_t steps_in_range = kFirstRangeSteps;
    for (std::uint32_t begin = first; begin < end;) {
      const StepRange range{begin, std::min(begin + steps_in_range, end) - 1};
      const std::uint64_t most_spans = search_range(range);
      const std::uint64_t fitting =
          kSpansInARange * (range.last - range.first + 1) / std::max<std::uint64_t>(most_spans, 1);
      steps_in_range = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(fitting, 1, kLongestRangeSteps));
      begin = range.last + 1;
    }
    if (report_.collectives == 0) {
      return Report::missing(report_.incomplete > 0 ? "no collective was recorded by all of its ranks"
                                                    : "no collectives are stored with this run");
    }
    return finish();
  }

 private:
  std::uint64_t search_range(StepRange range) {
    std::unordered_map<std::uint64_t, CollectiveArrivals> collectives;
    std::uint64_t most_spans = 0;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const std::vector<Span> spans = store_.spans(run_.id, ranks_[rank].rank, range.first, range.last);
      most_spans = std::max<std::uint64_t>(most_spans, spans.size());
      add_arrivals(rank, static_cast<std::size_t>(ranks_[rank].node), spans, clocks_, members_, collectives);
    }
    for (const auto& [correlation, collective] : collectives) {
      if (collective.ranks == members_.expected(correlation) && collective.ranks > 1) {
        count(collective);
      } else {
        report_.incomplete += collective.ranks != members_.expected(correlation);
      }
    }
    return most_spans;
  }

  void count(const CollectiveArrivals& collective) {
    ++report_.collectives;
    steps_.insert(collective.step);
    const LatestTwo& latest = collective.by_rank;
    const std::int64_t late_ns = latest.latest_ns() - latest.second_ns();
    if (late_ns <= clocks_.uncertainty_ns(latest.latest(), latest.second(), latest.latest_ns())) {
      ++report_.unresolved;
      return;
    }
    Straggler& rank = by_rank_[latest.latest()];
    Straggler& node = by_node_[ranks_[latest.latest()].node];
    const double wait_ns = collective.total_wait_ns() / static_cast<double>(collective.ranks - 1);
    ++rank.times_last;
    rank.late_ns += static_cast<double>(late_ns);
    rank.cost_ns_per_step += wait_ns;
    ++node.times_last;
    const LatestTwo& nodes = collective.by_node;
    node.late_ns += nodes.has_second() ? static_cast<double>(nodes.latest_ns() - nodes.second_ns()) : 0;
    node.cost_ns_per_step += wait_ns;
  }

  void scale(Straggler& straggler) const {
    const auto resolved = static_cast<double>(report_.collectives - report_.unresolved);
    straggler.share_last = resolved > 0 ? static_cast<double>(straggler.times_last) / resolved : 0;
    if (straggler.times_last > 0) straggler.late_ns /= static_cast<double>(straggler.times_last);
    straggler.cost_ns_per_step /= static_cast<double>(steps_.size());
  }

  double mean_step_ns() const {
    double sum = 0;
    double count = 0;
    for (const store::StepRecord& step : store_.steps(run_.id)) {
      if (steps_.count(step.step) == 0) continue;
      sum += static_cast<double>(step.duration_ns);
      ++count;
    }
    return count > 0 ? sum / count : 0;
  }

  void add_notes() {
    const auto n = static_cast<double>(ranks_.size());
    for (const Straggler& rank : report_.ranks) {
      if (report_.mean_step_ns <= 0 || rank.cost_ns_per_step < kDearShareOfStep * report_.mean_step_ns) break;
      if (rank.share_last < kOftenOverChance / n) continue;
      report_.notes.push_back(
          fmt::format("rank {} on {} arrives last at {:.0f}% of collectives ({:.0f}% by chance), and the "
                      "others wait {:.1f}% of "
                      "their step for it",
                      rank.rank, rank.host, 100 * rank.share_last, 100 / n,
                      100 * rank.cost_ns_per_step / report_.mean_step_ns));
    }
    if (report_.unresolved * 2 > report_.collectives) {
      report_.notes.push_back(
          fmt::format("{} of {} collectives: who came last lies below the resolution of the clocks",
                      report_.unresolved, report_.collectives));
    }
    if (report_.incomplete > 0) {
      report_.notes.push_back(
          fmt::format("{} collectives were not recorded by all ranks", report_.incomplete));
    }
  }

  StragglerReport finish() {
    report_.run = run_.id;
    report_.steps = static_cast<int>(steps_.size());
    report_.mean_step_ns = mean_step_ns();
    report_.ranks = by_rank_;
    for (const auto& [node, straggler] : by_node_) report_.nodes.push_back(straggler);
    if (report_.nodes.size() < 2) report_.nodes.clear();
    for (auto* list : {&report_.ranks, &report_.nodes}) {
      for (Straggler& straggler : *list) scale(straggler);
      std::stable_sort(list->begin(), list->end(), [](const Straggler& a, const Straggler& b) {
        return a.cost_ns_per_step > b.cost_ns_per_step;
      });
    }
    add_notes();
    return std::move(report_);
  }

  const store::RunStore& store_;
  const store::RunRecord& run_;
  std::vector<store::RankRecord> ranks_;
  ClockAlignment clocks_;
  CommunicatorMembers members_;
  std::vector<Straggler> by_rank_;
  std::map<int, Straggler> by_node_;
  std::set<std::uint32_t> steps_;
  StragglerReport report_;
};

}  // namespace

Measured<StragglerReport> find_stragglers(const store::RunStore& store, const store::RunId& id,
                                          int most_steps) {
  const std::optional<store::RunRecord> run = store.run(id);
  if (!run) throw Error(ErrorCode::kBadInput, fmt::format("run {} is not in {}", id, store.file().string()));
  std::vector<store::RankRecord> ranks = store.ranks(id);
  if (run->run_case.world_size() == 1) return Report::missing("single rank: no peer wait");
  if (run->provenance.has(Provenance::kImported) && store.recorded_steps(*run) == 0)
    return Report::missing("this imported run has no spans");
  if (ranks.size() < 2) return Report::missing("the run has no rows of its ranks");
  Search search(store, *run, std::move(ranks));
  if (!search.clocks_known()) return Report::missing("the clocks of the ranks were not compared");
  return search.search(most_steps);
}

Figure straggler_figure(const StragglerReport& report) {
  Figure figure;
  figure.title = "Wait that each rank caused";
  figure.x = {"rank", "1", false};
  figure.y = {"wait caused, a step", "ms", false};
  figure.notes = report.notes;
  std::map<int, Series> nodes;
  for (const Straggler& rank : report.ranks) {
    Series& series = nodes[rank.node];
    series.name = fmt::format("node {}", rank.node);
    series.shape = SeriesShape::kBars;
    series.points.push_back(
        {static_cast<double>(rank.rank), rank.cost_ns_per_step / 1e6, {}, fmt::format("rank {}", rank.rank)});
  }
  for (auto& [node, series] : nodes) {
    std::sort(series.points.begin(), series.points.end(),
              [](const Point& a, const Point& b) { return a.x < b.x; });
    figure.series.push_back(std::move(series));
  }
  return figure;
}

}  // namespace ddbench::analyzer
