#include "analyzer/scaling/curve_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analyzer/rate/checkpoint_times.h"
#include "analyzer/run/gpu_count.h"
#include "analyzer/run/usable_runs.h"
#include "core/error.h"
#include "core/facts/facts.h"

namespace ddbench::analyzer {
namespace {

Measured<double> measured_share_of(const SizeGroup& group) {
  double wall_ns = 0;
  double useful_ns = 0;
  for (const store::RunRecord& run : group.runs) {
    if (run.provenance.has(Provenance::kImported))
      return Measured<double>::missing("imported: no wall times");
    wall_ns += static_cast<double>(std::max<std::int64_t>(0, run.finished_wall_ns - run.started_wall_ns));
  }
  for (const RunSummary& summary : group.usable) {
    useful_ns += static_cast<double>(summary.measured_steps) * summary.step_time_ns->value;
  }
  if (wall_ns <= 0) return Measured<double>::missing("no wall times");
  return std::min(1.0, useful_ns / wall_ns);
}

}  // namespace

std::vector<SizeGroup> group_by_size(const store::RunStore& store, std::span<const store::RunRecord> runs,
                                     std::vector<std::string>& notes) {
  std::map<std::tuple<int, int, bool>, SizeGroup> groups;
  const auto group_of = [&](const store::RunRecord& run) -> SizeGroup& {
    return groups[{run.run_case.world_size(), run.run_case.nodes, run.run_case.nodes_not_stated}];
  };
  for (const store::RunRecord& run : runs) group_of(run).runs.push_back(run);
  for (RunSummary& summary : usable_summaries(store, runs, Figures::kRate, notes)) {
    group_of(summary.run).usable.push_back(std::move(summary));
  }
  std::vector<SizeGroup> result;
  for (auto& [size, group] : groups) {
    if (group.usable.size() == 1) group.usable.front() = summarize(store, group.usable.front().run.id);
    result.push_back(std::move(group));
  }
  return result;
}

CurveRow curve_row(const store::RunStore& store, const CaseFigures& figures, const SizeGroup& group, const SkuCatalogue& catalogue) {
  CurveRow row;
  row.run_case = group.run_case();
  row.world_size = row.run_case.world_size();
  row.runs = figures.runs;
  row.run_samples_per_s = figures.run_samples_per_s;
  for (const RunSummary& summary : group.usable)
    row.provenance = ProvenanceSet::from_bits(row.provenance.bits() | summary.run.provenance.bits());
  row.samples_per_s = figures.samples_per_s;
  row.without_samples = figures.without_samples;
  row.step_time_ns = figures.step_time_ns;
  row.exposed_share = figures.exposed_share;
  const RunSummary& any = group.usable.front();
  row.utilisation = utilisation_of(any.run, any.ranks, row.samples_per_s, catalogue);
  row.measured_share = measured_share_of(group);
  std::vector<store::RunRecord> used;
  for (const RunSummary& summary : group.usable) used.push_back(summary.run);
  row.checkpoint_ns = checkpoint_ns_a_step(store, used);
  return row;
}

void state_against(const CaseFigures& baseline, const CaseFigures& figures, CurveRow& row) {
  const Measured<CaseEfficiency> compared = efficiency_against(baseline, figures);
  if (!compared) {
    throw Error(ErrorCode::kBadInput, fmt::format("run {} ({}) cannot be compared with the baseline, run {}: {}", figures.runs.front(),
                                                  gpus(figures.run_case.world_size()), baseline.runs.front(), compared.reason()));
  }
  const CaseEfficiency& found = *compared;
  row.speedup = found.speedup.value;
  row.speedup_interval = found.speedup.interval;
  row.efficiency = found.efficiency.value;
  row.efficiency_interval = found.efficiency.interval;
  row.serial_fraction = found.serial_fraction;
  if (!found.waterfall) {
    row.waterfall = Measured<store::StepPartition>::missing(found.waterfall.reason());
    row.loss_intervals = Measured<LossIntervals>::missing(found.waterfall.reason());
    return;
  }
  row.waterfall = found.waterfall->lost;
  row.lost_ns = found.waterfall->lost_ns;
  row.loss_intervals = found.waterfall->intervals;
}

}  // namespace ddbench::analyzer
