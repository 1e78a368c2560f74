#include "analyzer/run/run_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "analyzer/rate/measured_steps.h"
#include "analyzer/run/gpu_count.h"
#include "core/run_case/step_facts.h"
#include "core/text/quantity.h"

namespace ddbench::analyzer {
namespace {

double in_ms(double time_ns) {
  return time_ns / 1e6;
}

std::uint32_t first_measured_step(const RunSummary& summary) {
  return ddbench::first_measured_step(summary.run.run_case, summary.run.environment.facts);
}

struct RankSteps {
  std::array<double, store::kStepPartCount> sum_ns{};  ///< a store may come from anybody: no integer is too large for it
  std::int64_t count = 0;
};

Point bar_at(int place, std::int64_t lost_ns, const ConfidenceInterval* interval, std::string_view label) {
  Point point{static_cast<double>(place), static_cast<double>(lost_ns) / 1e6, std::nullopt,
              std::string(label)};
  if (interval != nullptr)
    point.interval =
        ConfidenceInterval{interval->low / 1e6, interval->high / 1e6, interval->level, interval->method};
  return point;
}

}  // namespace

Figure step_time_figure(const RunSummary& summary, std::span<const store::StepRecord> steps) {
  Figure figure;
  figure.title = "Step time over the run";
  figure.x = {"step", "1"};
  figure.y = {"step time", "ms"};
  if (summary.measured_steps > 0 && !summary.step_time_ns) {
    figure.notes.push_back(summary.step_time_ns.reason());
    return figure;
  }
  Series slowest{"slowest rank", SeriesShape::kLine, {}, summary.run.provenance};
  Series fastest{"fastest rank", SeriesShape::kLine, {}, summary.run.provenance};
  const MeasuredSteps measured =
      measured_steps(steps, first_measured_step(summary), summary.ranks, summary.ranks.size());
  for (const RunStep& step : measured.steps) {
    slowest.points.push_back({static_cast<double>(step.step), in_ms(step.slowest_ns), std::nullopt, {}});
    fastest.points.push_back({static_cast<double>(step.step), in_ms(step.fastest_ns), std::nullopt, {}});
  }
  if (slowest.points.empty()) {
    figure.notes.push_back("no measured step was recorded by all ranks");
    return figure;
  }
  figure.series.push_back(std::move(slowest));
  if (summary.ranks.size() > 1) figure.series.push_back(std::move(fastest));
  return figure;
}

Figure loss_figure(const RunSummary& summary, std::span<const store::StepRecord> steps) {
  Figure figure;
  figure.title = "Training loss";
  figure.x = {"step", "1"};
  figure.y = {"mean loss over ranks", "1"};
  struct Sum {
    double loss = 0;
    std::size_t ranks = 0;
  };
  std::map<std::uint32_t, Sum> sums;
  for (const store::StepRecord& record : steps) {
    if (std::isnan(record.loss)) continue;
    Sum& sum = sums[record.step];
    sum.loss += record.loss;
    ++sum.ranks;
  }
  Series series{"loss", SeriesShape::kLine, {}, summary.run.provenance};
  for (const auto& [step, sum] : sums) {
    if (sum.ranks != summary.ranks.size()) continue;
    series.points.push_back(
        {static_cast<double>(step), sum.loss / static_cast<double>(sum.ranks), std::nullopt, {}});
  }
  if (series.points.empty()) {
    figure.notes.push_back(summary.loss_last ? "no step has the loss of all ranks"
                                             : summary.loss_last.reason());
    return figure;
  }
  figure.series.push_back(std::move(series));
  return figure;
}

Figure rank_partition_figure(const RunSummary& summary, std::span<const store::StepRecord> steps) {
  Figure figure;
  figure.title = "Where a step goes, by rank";
  figure.x = {"rank", "1"};
  figure.y = {"mean step", "ms"};
  std::map<int, RankSteps> ranks;
  for (const store::StepRecord& record : steps) {
    if (record.step < first_measured_step(summary) || !record.probes_on) continue;
    RankSteps& rank = ranks[record.rank];
    for (std::size_t part = 0; part < rank.sum_ns.size(); ++part)
      rank.sum_ns[part] += static_cast<double>(record.partition.ns[part]);
    ++rank.count;
  }
  if (ranks.empty()) {
    figure.notes.push_back("no step was measured with the probes on");
    return figure;
  }
  for (std::size_t i = 0; i < store::kStepPartCount; ++i) {
    const std::string name{store::to_string(static_cast<store::StepPart>(i))};
    Series series{name, SeriesShape::kStackedBars, {}, summary.run.provenance};
    for (const auto& [number, rank] : ranks) {
      const double mean_ns = rank.sum_ns[i] / static_cast<double>(rank.count);
      series.points.push_back(
          {static_cast<double>(number), in_ms(mean_ns), std::nullopt, fmt::format("rank {}", number)});
    }
    figure.series.push_back(std::move(series));
  }
  return figure;
}

Figure bus_bandwidth_figure(const RunSummary& summary) {
  Figure figure;
  figure.title = "Bus bandwidth of the collectives";
  figure.x = {"collective", ""};
  figure.y = {"bus bandwidth", "B/s"};
  Series series{"busbw", SeriesShape::kBars, {}, summary.run.provenance};
  std::string reason = "no collectives were recorded";
  const bool one_function = std::all_of(
      summary.collectives.begin(), summary.collectives.end(), [&](const CollectiveSummary& other) {
        return other.record.function == summary.collectives.front().record.function;
      });
  for (const CollectiveSummary& collective : summary.collectives) {
    if (!collective.busbw_gb_per_s) {
      reason = collective.busbw_gb_per_s.reason();
      continue;
    }
    const store::CollectiveRecord& record = collective.record;
    std::string label = one_function ? "" : record.function + " ";
    if (record.bucket >= 0) label += fmt::format("bucket {}, ", record.bucket);
    if (!collective.communicator.empty()) label += collective.communicator + ", ";
    label += quantity(static_cast<double>(record.bytes), "B");
    series.points.push_back({static_cast<double>(series.points.size()), 1e9 * *collective.busbw_gb_per_s,
                             std::nullopt, std::move(label)});
  }
  if (series.points.empty()) {
    figure.notes.push_back(reason);
    return figure;
  }
  figure.series.push_back(std::move(series));
  return figure;
}

void add_waterfall(const store::StepPartition& lost, const Measured<LossIntervals>& intervals,
                   ProvenanceSet provenance, Figure& figure) {
  Series bars{"lost", SeriesShape::kWaterfall, {}, provenance};
  for (int i = 0; i < store::kStepPartCount; ++i) {
    const auto part = static_cast<store::StepPart>(i);
    const ConfidenceInterval* interval = intervals ? &intervals->parts[static_cast<std::size_t>(i)] : nullptr;
    bars.points.push_back(bar_at(i, lost[part], interval, store::to_string(part)));
  }
  figure.series.push_back(std::move(bars));
  const Point total =
      bar_at(store::kStepPartCount, lost.total_ns(), intervals ? &intervals->lost : nullptr, "lost in all");
  figure.series.push_back({"total", SeriesShape::kBars, {total}, provenance});
  if (!intervals) figure.notes.push_back("bars without intervals: " + intervals.reason());
}

Figure case_waterfall_figure(const RunCase& run_case, const std::string& baseline,
                             const Measured<store::StepPartition>& lost,
                             const Measured<LossIntervals>& intervals, ProvenanceSet provenance) {
  Figure figure;
  figure.title = fmt::format("Step time lost on {}{}", shape_label(run_case), run_case.nodes_not_stated ? "" : " GPUs");
  figure.x = {"part of the step", ""};
  figure.y = {"lost against the ideal", "ms"};
  if (!lost) {
    figure.notes.push_back("no waterfall: " + lost.reason());
    return figure;
  }
  figure.notes = {"against " + baseline};
  add_waterfall(*lost, intervals, provenance, figure);
  return figure;
}

}  // namespace ddbench::analyzer
