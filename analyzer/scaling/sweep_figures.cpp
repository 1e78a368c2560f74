#include "analyzer/scaling/sweep_figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/run/case_figures.h"
#include "analyzer/run/gpu_count.h"
#include "analyzer/scaling/scaling_series.h"

namespace ddbench::analyzer {
namespace {

int smallest_size(const ScalingTable& table) {
  int smallest = 0;
  for (const ScalingRow& row : table.rows) {
    if (row.speedup && (smallest == 0 || row.world_size < smallest)) smallest = row.world_size;
  }
  return smallest;
}

struct CasePartition {
  std::string label;
  ProvenanceSet provenance;
  Measured<store::StepPartition> parts = Measured<store::StepPartition>::missing("no runs");
};

std::string label_of(const ScalingRow& row, const std::string& variant) {
  return shape_label(row.run_case) + (variant.empty() || is_one_node(row.run_case) ? "" : ", " + variant);
}

CasePartition partition_of(const ScalingRow& row, std::span<const RunSummary> runs) {
  CasePartition result;
  result.provenance = row.provenance;
  const std::string key = case_key(row.run_case);
  std::vector<RunSummary> own;
  for (const RunSummary& run : runs) {
    if (run.run.state != store::RunState::kDone || !run.run.valid || !run.work_per_s || run.probed_steps == 0) continue;
    if (case_key(run.run.run_case) != key) continue;
    if (!changed_files(row.script, program_files(run.run.environment.facts)).empty()) continue;
    own.push_back(run);
  }
  if (!own.empty()) result.parts = case_figures(own).partition;
  return result;
}

}  // namespace

Figure speedup_figure(const ScalingTable& table) {
  Figure figure;
  figure.title = with_kind_of_scaling("Speedup", table);
  figure.x = {"GPUs", "1", true};
  figure.y = {"speedup against " + table.baseline, "1", true};
  figure.notes = table.notes;
  const int smallest = smallest_size(table);
  Series ideal{"ideal", SeriesShape::kLine, {}, {Provenance::kPredicted}};
  for (const RowSeries& group : series_of_rows(table)) {
    Series series{group.name, SeriesShape::kLine, {}, group.provenance};
    for (const ScalingRow* row : group.rows) {
      if (!row->speedup) continue;
      const double size = row->world_size;
      const auto interval =
          row->speedup_interval ? std::optional(*row->speedup_interval) : std::nullopt;
      series.points.push_back({size, *row->speedup, interval, {}});
      ideal.points.push_back({size, size / smallest, std::nullopt, {}});
    }
    if (!series.points.empty()) figure.series.push_back(std::move(series));
  }
  std::sort(ideal.points.begin(), ideal.points.end(),
            [](const Point& a, const Point& b) { return a.x < b.x; });
  const auto same_size = [](const Point& a, const Point& b) { return a.x == b.x; };
  ideal.points.erase(std::unique(ideal.points.begin(), ideal.points.end(), same_size), ideal.points.end());
  if (!ideal.points.empty()) figure.series.push_back(std::move(ideal));
  return figure;
}

Figure case_partition_figure(const ScalingTable& table, std::span<const RunSummary> runs) {
  Figure figure;
  figure.title = "Where a step goes, by case";
  figure.x = {"nodes × GPUs", ""};
  figure.y = {"step time", "ms"};
  std::vector<CasePartition> cases;
  const std::vector<RowSeries> groups = series_of_rows(table);
  for (const RowSeries& group : groups) {
    for (const ScalingRow* row : group.rows) {
      CasePartition found = partition_of(*row, runs);
      found.label = label_of(*row, group.variant);
      if (found.parts) cases.push_back(std::move(found));
    }
  }
  if (cases.empty()) {
    figure.notes.push_back("no valid run was measured with the probes on");
    return figure;
  }
  for (std::size_t part = 0; part < store::kStepPartCount; ++part) {
    const std::string name{store::to_string(static_cast<store::StepPart>(part))};
    Series series{name, SeriesShape::kStackedBars, {}, {}};
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const auto part_ns = static_cast<double>(cases[i].parts->ns[part]);
      series.points.push_back({static_cast<double>(i), part_ns / 1e6, std::nullopt, cases[i].label});
      series.provenance = ProvenanceSet::from_bits(series.provenance.bits() | cases[i].provenance.bits());
    }
    figure.series.push_back(std::move(series));
  }
  return figure;
}

}  // namespace ddbench::analyzer
