#include <fmt/format.h>

#include <optional>
#include <set>

#include "analyzer/run/run_figures.h"
#include "analyzer/run/run_summary.h"
#include "analyzer/scaling/scaling.h"
#include "analyzer/scaling/scaling_series.h"

namespace ddbench::analyzer {
namespace {

double in_ms(std::int64_t time_ns) {
  return static_cast<double>(time_ns) / 1e6;
}

std::string name_of(const store::RunRecord& run) {
  return run.run_case.name.empty() ? run.id : run.run_case.name;
}

std::optional<ConfidenceInterval> in_percent(const Measured<ConfidenceInterval>& interval) {
  if (!interval) return std::nullopt;
  return ConfidenceInterval{100 * interval->low, 100 * interval->high, interval->level, interval->method};
}

}  // namespace

Figure partition_figure(const RunSummary& summary) {
  Figure figure;
  figure.title = "Where a step goes";
  figure.x = {"run", ""};
  figure.y = {"step time", "ms"};
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
  figure.title = "Step time lost against the baseline";
  figure.x = {"part of the step", ""};
  figure.y = {"lost against the ideal", "ms"};
  figure.notes = summary.notes;
  if (!summary.efficiency) {
    figure.notes.insert(figure.notes.begin(), "no waterfall: " + summary.efficiency.reason());
    return figure;
  }
  const Efficiency& efficiency = *summary.efficiency;
  figure.title = fmt::format("Step time lost against the {}-GPU baseline", efficiency.baseline.run_case.world_size());
  add_waterfall(efficiency.waterfall, efficiency.loss_intervals, summary.run.provenance, figure);
  return figure;
}

const ScalingRow* largest_compared(const ScalingTable& table) {
  const ScalingRow* found = nullptr;
  for (const ScalingRow& row : table.rows) {
    if (!row.efficiency) continue;
    const bool larger = found == nullptr || row.world_size > found->world_size;
    if (larger || (row.world_size == found->world_size && *row.efficiency > *found->efficiency)) found = &row;
  }
  return found;
}

Figure waterfall_figure(const ScalingTable& table, const ScalingRow& row) {
  using Lost = Measured<store::StepPartition>;
  const auto& waterfall = row.waterfall;
  return case_waterfall_figure(
      row.run_case, table.baseline, waterfall ? Lost(waterfall->lost) : Lost::missing(waterfall.reason()),
      waterfall ? waterfall->intervals : Measured<LossIntervals>::missing(waterfall.reason()),
      row.provenance);
}

Figure scaling_efficiency(const ScalingTable& table) {
  Figure figure;
  figure.title = with_kind_of_scaling("Efficiency", table);
  figure.x = {"GPUs", "1", true};
  figure.y = {"efficiency against " + table.baseline, "%"};
  figure.notes = table.notes;
  std::set<int> sizes;
  for (const RowSeries& group : series_of_rows(table)) {
    Series series{group.name, SeriesShape::kLine, {}, group.provenance};
    for (const ScalingRow* row : group.rows) {
      if (!row->efficiency) continue;
      series.points.push_back({static_cast<double>(row->world_size),
                               100 * *row->efficiency,
                               in_percent(row->efficiency_interval),
                               {}});
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
