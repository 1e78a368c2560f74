#include "efficiency.h"

#include <fmt/format.h>

#include "ddbench/analyzer/scaling.h"
#include "gpu_count.h"
#include "step_series.h"

namespace ddbench::analyzer {
namespace {

/// Empty when the pair can be compared.
std::string reason_against_comparing(const RunSummary& baseline, const RunSummary& summary) {
  const RunCase& here = summary.run.run_case;
  const RunCase& there = baseline.run.run_case;
  if (!summary.run.valid) return "the run is invalid";
  if (!baseline.run.valid) return "the baseline is invalid: " + baseline.run.invalid_reason;
  if (!summary.samples_per_s) return summary.samples_per_s.reason();
  if (!baseline.samples_per_s)
    return fmt::format("baseline {}: {}", baseline.run.id, baseline.samples_per_s.reason());
  if (summary.probed_steps == 0) return "no step was measured with the probes on";
  if (baseline.probed_steps == 0)
    return fmt::format("baseline {}: no step with the probes on", baseline.run.id);
  if (here.world_size() < there.world_size()) {
    return fmt::format("the baseline ran on more GPUs ({}) than the run ({})", there.world_size(),
                       here.world_size());
  }
  if (here.scaling == ScalingMode::kWeak && here.batch_per_gpu != there.batch_per_gpu) {
    return fmt::format("the baseline's batch per GPU is {}, the run's is {}", there.batch_per_gpu,
                       here.batch_per_gpu);
  }
  if (here.scaling == ScalingMode::kStrong && here.global_batch() != there.global_batch()) {
    return fmt::format("the baseline's global batch is {}, the run's is {}", there.global_batch(),
                       here.global_batch());
  }
  return {};
}

store::StepPartition ideal_partition(const RunSummary& baseline, const RunCase& here) {
  if (here.scaling == ScalingMode::kWeak) return baseline.partition;
  store::StepPartition scaled = baseline.partition;
  for (std::int64_t& part_ns : scaled.ns) part_ns *= baseline.run.run_case.world_size();
  return divide_parts(scaled, here.world_size());
}

}  // namespace

std::string reason_without_baseline(const store::RunRecord& run) {
  if (!run.baseline_id.empty()) return fmt::format("baseline run {} is not in this store", run.baseline_id);
  if (run.run_case.world_size() == 1) return "the run has 1 GPU: it is what others are compared with";
  return "no baseline";
}

Measured<Efficiency> efficiency_against(const RunSummary& baseline, const RunSummary& summary) {
  if (std::string reason = reason_against_comparing(baseline, summary); !reason.empty()) {
    return Measured<Efficiency>::missing(std::move(reason));
  }
  const RunCase& here = summary.run.run_case;
  const int base_gpus = baseline.run.run_case.world_size();
  const double n = static_cast<double>(here.world_size()) / base_gpus;
  Efficiency result;
  result.baseline = baseline.run;
  result.speedup = *summary.samples_per_s / *baseline.samples_per_s;
  result.value = result.speedup / n;
  if (here.scaling == ScalingMode::kStrong) {
    result.serial_fraction =
        n > 1 ? Measured<double>(karp_flatt(result.speedup, n))
              : Measured<double>::missing("as many GPUs as the baseline: " + gpus(base_gpus));
  }
  const store::StepPartition ideal = ideal_partition(baseline, here);
  for (std::size_t part = 0; part < ideal.ns.size(); ++part) {
    result.waterfall.ns[part] = summary.partition.ns[part] - ideal.ns[part];
  }
  result.lost_ns = result.waterfall.total_ns();
  return result;
}

}  // namespace ddbench::analyzer
