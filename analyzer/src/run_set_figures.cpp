#include "ddbench/analyzer/run_set_figures.h"

#include <fmt/format.h>

#include <map>

namespace ddbench::analyzer {

std::string short_label(const store::RunRecord& run) {
  std::string label = fmt::format("{} x {}", run.run_case.nodes, run.run_case.gpus_per_node);
  if (!run.run_case.link.empty() && run.run_case.nodes > 1) label += ", " + run.run_case.link;
  if (!run.run_case.name.empty()) label += ", " + run.run_case.name;
  return label;
}

Figure partitions_figure(std::span<const RunSummary> runs) {
  Figure figure;
  figure.title = "Where a step goes";
  figure.x = {"run", ""};
  figure.y = {"mean step", "ms"};
  std::map<std::string, int> seen;
  std::vector<std::string> labels;
  for (const RunSummary& run : runs) {
    const std::string label = short_label(run.run);
    const int number = ++seen[label];
    labels.push_back(number == 1 ? label : fmt::format("{} ({})", label, number));
    if (run.partition.total_ns() == 0) {
      figure.notes.push_back(
          fmt::format("run {} has no partition: no step was measured with the probes on", run.run.id));
    }
  }
  for (int part = 0; part < store::kStepPartCount; ++part) {
    const auto step_part = static_cast<store::StepPart>(part);
    Series series{std::string(store::to_string(step_part)), SeriesShape::kStackedBars, {}, {}};
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (runs[i].partition.total_ns() == 0) continue;
      const auto ns = static_cast<double>(runs[i].partition[step_part]);
      series.points.push_back({static_cast<double>(i), ns / 1e6, {}, labels[i]});
      series.provenance = ProvenanceSet::from_bits(series.provenance.bits() | runs[i].run.provenance.bits());
    }
    if (!series.points.empty()) figure.series.push_back(std::move(series));
  }
  return figure;
}

}  // namespace ddbench::analyzer
