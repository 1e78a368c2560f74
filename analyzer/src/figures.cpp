#include <fmt/format.h>

#include <optional>
#include <set>

#include "ddbench/analyzer/run_summary.h"
#include "ddbench/analyzer/scaling.h"
#include "scaling_series.h"

namespace ddbench::analyzer {
namespace {

double in_ms(std::int64_t time_ns) {
  return static_cast<double>(time_ns) / 1e6;
}

std::string name_of(const store::RunRecord& run) {
  return run.run_case.name.empty() ? run.id : run.run_case.name;
}

/// In percent. Both step times are uncertain; their bounds are taken against each other.
std::optional<ConfidenceInterval> interval_of_efficiency(const ScalingRow& row, const ScalingRow& baseline) {
  if (!row.step_time_ns || !baseline.step_time_ns || &row == &baseline) return std::nullopt;
  const Estimate& here = *row.step_time_ns;
  const Estimate& there = *baseline.step_time_ns;
  if (here.interval.low <= 0 || there.interval.low <= 0) return std::nullopt;
  const double percent = 100 * *row.efficiency;
  return ConfidenceInterval{percent * (here.value / here.interval.high) * (there.interval.low / there.value),
                            percent * (here.value / here.interval.low) * (there.interval.high / there.value),
                            here.interval.level + there.interval.level - 1,
                            "bounds of both step times (Bonferroni); " + here.interval.method};
}

/// Null when rows of several cases share the smallest size: each row then has a baseline of its own.
const ScalingRow* only_baseline(const ScalingTable& table) {
  const ScalingRow* found = nullptr;
  for (const ScalingRow& row : table.rows) {
    if (row.world_size != table.rows.front().world_size || !row.efficiency) continue;
    if (found != nullptr) return nullptr;
    found = &row;
  }
  return found;
}

}  // namespace

Figure partition_figure(const RunSummary& summary) {
  Figure figure;
  figure.title = fmt::format("Where a step of {} goes", name_of(summary.run));
  figure.x = {"run", ""};
  figure.y = {"mean step", "ms"};
  figure.notes = summary.notes;
  for (int i = 0; i < store::kStepPartCount; ++i) {
    const auto part = static_cast<store::StepPart>(i);
    figure.series.push_back({std::string(to_string(part)),
                             SeriesShape::kStackedBars,
                             {{0, in_ms(summary.partition[part]), std::nullopt, name_of(summary.run)}},
                             summary.run.provenance});
  }
  return figure;
}

Figure waterfall_figure(const RunSummary& summary) {
  Figure figure;
  figure.title = fmt::format("Lost step time of {}", name_of(summary.run));
  figure.x = {"part of the step", ""};
  figure.y = {"lost against the ideal", "ms"};
  figure.notes = summary.notes;
  if (!summary.efficiency) {
    figure.notes.insert(figure.notes.begin(), "no waterfall: " + summary.efficiency.reason());
    return figure;
  }
  const Efficiency& efficiency = *summary.efficiency;
  Series bars{"lost", SeriesShape::kWaterfall, {}, summary.run.provenance};
  for (int i = 0; i < store::kStepPartCount; ++i) {
    const auto part = static_cast<store::StepPart>(i);
    bars.points.push_back({static_cast<double>(i), in_ms(efficiency.waterfall[part]), std::nullopt,
                           std::string(to_string(part))});
  }
  figure.series.push_back(std::move(bars));
  figure.series.push_back({"total",
                           SeriesShape::kBars,
                           {{store::kStepPartCount, in_ms(efficiency.lost_ns), std::nullopt, "lost in all"}},
                           summary.run.provenance});
  return figure;
}

Figure scaling_efficiency(const ScalingTable& table) {
  Figure figure;
  figure.title = fmt::format("Scaling efficiency ({})", to_string(table.mode));
  figure.x = {"GPUs", "1", true};
  figure.y = {"efficiency against " + table.baseline, "%"};
  figure.notes = table.notes;
  const ScalingRow* baseline = only_baseline(table);
  std::set<int> sizes;
  for (const RowSeries& group : series_of_rows(table)) {
    Series series{group.name, SeriesShape::kLine, {}, group.provenance};
    for (const ScalingRow* row : group.rows) {
      if (!row->efficiency) continue;
      const auto interval = baseline == nullptr ? std::nullopt : interval_of_efficiency(*row, *baseline);
      series.points.push_back({static_cast<double>(row->world_size), 100 * *row->efficiency, interval, {}});
      sizes.insert(row->world_size);
    }
    if (!series.points.empty()) figure.series.push_back(std::move(series));
  }
  Series ideal{"ideal", SeriesShape::kLine, {}, {Provenance::kPredicted}};
  for (const int size : sizes) ideal.points.push_back({static_cast<double>(size), 100, std::nullopt, {}});
  if (!figure.series.empty()) figure.series.push_back(std::move(ideal));
  return figure;
}

}  // namespace ddbench::analyzer
