#include "curve_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "ddbench/analyzer/run_ratio.h"
#include "ddbench/analyzer/scaling.h"
#include "run_groups.h"
#include "step_series.h"

namespace ddbench::analyzer {
namespace {

using Interval = Measured<ConfidenceInterval>;

Interval interval_of(const Measured<Estimate>& estimate) {
  return estimate ? Interval(estimate->interval) : Interval::missing(estimate.reason());
}

Measured<double> goodput_of(const SizeGroup& group) {
  double wall_ns = 0;
  double useful_ns = 0;
  for (const store::RunRecord& run : group.runs) {
    if (run.provenance.has(Provenance::kImported))
      return Measured<double>::missing("imported: no wall times");
    wall_ns += static_cast<double>(std::max<std::int64_t>(0, run.finished_wall_ns - run.started_wall_ns));
  }
  for (const RunSummary& summary : group.usable) {
    useful_ns += static_cast<double>(summary.measured_steps) * median_step_ns(summary);
  }
  if (wall_ns <= 0) return Measured<double>::missing("no wall times");
  return std::min(1.0, useful_ns / wall_ns);
}

store::StepPartition ideal_partition(const CurveBaseline& baseline, const RunCase& here) {
  store::StepPartition scaled = *baseline.partition;
  if (here.scaling == ScalingMode::kWeak) return scaled;
  for (std::int64_t& part_ns : scaled.ns) part_ns *= baseline.gpus;
  return divide_parts(scaled, here.world_size());
}

Measured<Metric> serial_fraction(const CurveRow& row, double n) {
  if (row.run_case.scaling == ScalingMode::kWeak) return Measured<Metric>::missing("weak scaling");
  if (n <= 1) return Measured<Metric>::missing("the baseline itself");
  Metric metric{"serial fraction", "1", karp_flatt(row.speedup, n), {}};
  if (row.efficiency_interval) {
    const ConfidenceInterval& efficiency = *row.efficiency_interval;
    metric.interval =
        ConfidenceInterval{karp_flatt(efficiency.high * n, n), karp_flatt(efficiency.low * n, n),
                           efficiency.level, efficiency.method};
  }
  return metric;
}

}  // namespace

std::vector<SizeGroup> group_by_size(const store::RunStore& store, std::span<const store::RunRecord> runs,
                                     std::vector<std::string>& notes) {
  std::map<std::pair<int, int>, SizeGroup> groups;
  const auto group_of = [&](const store::RunRecord& run) -> SizeGroup& {
    return groups[{run.run_case.world_size(), run.run_case.nodes}];
  };
  for (const store::RunRecord& run : runs) group_of(run).runs.push_back(run);
  for (RunSummary& summary : usable_summaries(store, runs, Figures::kRate, notes)) {
    group_of(summary.run).usable.push_back(std::move(summary));
  }
  std::vector<SizeGroup> result;
  for (auto& [size, group] : groups) result.push_back(std::move(group));
  return result;
}

Measured<store::StepPartition> mean_partition(const std::vector<RunSummary>& runs) {
  store::StepPartition sum;
  std::int64_t count = 0;
  for (const RunSummary& summary : runs) {
    if (summary.probed_steps == 0) continue;
    for (std::size_t part = 0; part < sum.ns.size(); ++part) sum.ns[part] += summary.partition.ns[part];
    ++count;
  }
  if (count == 0) return Measured<store::StepPartition>::missing("no step was measured with the probes on");
  return divide_parts(sum, count);
}

Measured<double> exposed_share(const std::vector<RunSummary>& usable) {
  for (const RunSummary& summary : usable) {
    const auto& exposed_ns = summary.exposed_communication_ns;
    if (summary.probed_steps > 0 && !exposed_ns) return Measured<double>::missing(exposed_ns.reason());
  }
  const Measured<store::StepPartition> partition = mean_partition(usable);
  if (!partition) return Measured<double>::missing(partition.reason());
  if (partition->total_ns() <= 0) return Measured<double>::missing("steps took no time");
  return static_cast<double>(partition->exposed_communication_ns()) /
         static_cast<double>(partition->total_ns());
}

CurveRow curve_row(const store::RunStore& store, const SizeGroup& group, const SkuCatalogue& catalogue) {
  CurveRow row;
  row.run_case = group.run_case();
  row.world_size = row.run_case.world_size();
  std::vector<double> steps_ns;
  double log_rate = 0;
  for (const RunSummary& summary : group.usable) {
    row.runs.push_back(summary.run.id);
    row.run_samples_per_s.push_back(*summary.samples_per_s);
    steps_ns.push_back(median_step_ns(summary));
    log_rate += std::log(*summary.samples_per_s) / static_cast<double>(group.usable.size());
    row.provenance = ProvenanceSet::from_bits(row.provenance.bits() | summary.run.provenance.bits());
  }
  row.samples_per_s = std::exp(log_rate);
  row.step_time_ns = static_cast<double>(row.run_case.global_batch()) * 1e9 / row.samples_per_s;
  row.step_time_interval = interval_of(steps_ns.size() > 1 ? mean_of_runs(steps_ns)
                                                           : summarize(store, row.runs.front()).step_time_ns);
  row.exposed_share = exposed_share(group.usable);
  const store::RunRecord& run = group.usable.front().run;
  row.utilisation = utilisation_of(run, row.samples_per_s, catalogue);
  row.goodput = goodput_of(group);
  return row;
}

void state_against(const CurveBaseline& baseline, const SizeGroup& group, CurveRow& row) {
  const double n = static_cast<double>(row.world_size) / baseline.gpus;
  row.speedup = row.samples_per_s / baseline.samples_per_s;
  row.efficiency = row.speedup / n;
  if (row.is_baseline) {
    row.efficiency_interval = Interval::missing("the baseline itself");
  } else {
    const RunRatio ratio = ratio_of_runs(row.run_samples_per_s, baseline.run_samples_per_s);
    row.efficiency_interval = ratio.interval;
    if (ratio.interval) {
      ConfidenceInterval interval = *ratio.interval;
      interval.low /= n;
      interval.high /= n;
      row.efficiency_interval = std::move(interval);
    }
  }
  row.serial_fraction = serial_fraction(row, n);
  const Measured<store::StepPartition> here = mean_partition(group.usable);
  if (!here || !baseline.partition) {
    row.waterfall = Measured<store::StepPartition>::missing(here ? "baseline: " + baseline.partition.reason()
                                                                 : here.reason());
    return;
  }
  store::StepPartition lost = *here;
  const store::StepPartition ideal = ideal_partition(baseline, row.run_case);
  for (std::size_t part = 0; part < lost.ns.size(); ++part) lost.ns[part] -= ideal.ns[part];
  row.lost_ns = lost.total_ns();
  row.waterfall = lost;
}

}  // namespace ddbench::analyzer
