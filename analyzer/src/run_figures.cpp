#include "ddbench/analyzer/run_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "step_series.h"

namespace ddbench::analyzer {
namespace {

double in_ms(double time_ns) {
  return time_ns / 1e6;
}

std::uint32_t first_measured_step(const RunSummary& summary) {
  return static_cast<std::uint32_t>(std::max(summary.run.run_case.warmup, 0));
}

/// Fastest and slowest rank of the steps that all ranks recorded.
struct Extremes {
  double fastest_ns = 0;
  double slowest_ns = 0;
};

std::map<std::uint32_t, Extremes> extremes_of(const RunSummary& summary,
                                              std::span<const store::StepRecord> steps) {
  std::map<std::uint32_t, Extremes> found;
  for (const RunStep& step : complete_steps(steps, first_measured_step(summary), summary.ranks.size())) {
    found[step.step] = {step.slowest_ns, step.slowest_ns};
  }
  for (const store::StepRecord& record : steps) {
    const auto step = found.find(record.step);
    if (step == found.end()) continue;
    step->second.fastest_ns = std::min(step->second.fastest_ns, static_cast<double>(record.duration_ns));
  }
  return found;
}

struct RankSteps {
  store::StepPartition sum;
  std::int64_t count = 0;
};

}  // namespace

Figure step_time_figure(const RunSummary& summary, std::span<const store::StepRecord> steps) {
  Figure figure;
  figure.title = "Step time over the run";
  figure.x = {"step", "1"};
  figure.y = {"step time", "ms"};
  Series slowest{"slowest rank", SeriesShape::kLine, {}, summary.run.provenance};
  Series fastest{"fastest rank", SeriesShape::kLine, {}, summary.run.provenance};
  for (const auto& [step, extremes] : extremes_of(summary, steps)) {
    slowest.points.push_back({static_cast<double>(step), in_ms(extremes.slowest_ns), std::nullopt, {}});
    fastest.points.push_back({static_cast<double>(step), in_ms(extremes.fastest_ns), std::nullopt, {}});
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
    for (std::size_t part = 0; part < rank.sum.ns.size(); ++part)
      rank.sum.ns[part] += record.partition.ns[part];
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
      const double mean_ns = static_cast<double>(rank.sum.ns[i]) / static_cast<double>(rank.count);
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
    label += record.bytes < 1000 ? fmt::format("{} B", record.bytes)
                                 : fmt::format("{:.3g} MB", static_cast<double>(record.bytes) / 1e6);
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

}  // namespace ddbench::analyzer
