#include "analyzer/scaling/run_set_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzer/run/gpu_count.h"
#include "analyzer/run/run_fields.h"
#include "analyzer/scaling/curve_groups.h"

namespace ddbench::analyzer {
std::string short_label(const store::RunRecord& run) {
  std::string label = shape_label(run.run_case);
  if (!run.run_case.link.empty() && analyzer::applies(run, "link")) label += ", " + run.run_case.link;
  if (!run.run_case.name.empty()) label += ", " + run.run_case.name;
  return label;
}

std::vector<std::string> distinguishing_labels(std::span<const store::RunRecord> runs) {
  std::vector<std::string> fields = varied_fields(runs);
  std::erase(fields, "link");  // short_label has it
  const bool one_workload = std::all_of(runs.begin(), runs.end(), [&](const store::RunRecord& run) {
    return work_name(run.run_case.work) == work_name(runs.front().run_case.work);
  });
  if (!one_workload) fields.insert(fields.begin(), "workload");
  std::vector<std::string> labels;
  for (const store::RunRecord& run : runs) {
    const auto values = run_fields(run);
    std::string& label = labels.emplace_back(short_label(run));
    for (const std::string& field : fields) {
      const auto value = values.find(field);
      if (value == values.end() || value->second.text.empty()) continue;
      label += ", " + (value->second.numeric ? field_in_words(field) + " " : "") + value->second.text;
    }
  }
  return labels;
}

Figure partitions_figure(std::span<const RunSummary> runs) {
  Figure figure;
  figure.title = "Where a step goes";
  figure.x = {"run", ""};
  figure.y = {"step time", "ms"};
  std::vector<store::RunRecord> records;
  for (const RunSummary& run : runs) records.push_back(run.run);
  std::vector<std::string> labels = distinguishing_labels(records);
  std::map<std::string, int> seen;
  for (std::string& label : labels) {
    if (const int number = ++seen[label]; number > 1) label += fmt::format(" ({})", number);
  }
  for (const RunSummary& run : runs) {
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
