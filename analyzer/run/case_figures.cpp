#include "analyzer/run/case_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/rate/run_partition.h"
#include "analyzer/run/gpu_count.h"
#include "analyzer/run/usable_runs.h"
#include "analyzer/statistics/karp_flatt.h"
#include "analyzer/statistics/log_ratio.h"
#include "analyzer/statistics/quantiles.h"
#include "core/run_case/program_case.h"
#include "core/run_case/program_files.h"

namespace ddbench::analyzer {
namespace {

using Interval = Measured<ConfidenceInterval>;
using PartWeights = std::array<double, store::kStepPartCount>;

constexpr const char* kItself = "the baseline itself";

Interval interval_over_runs(std::span<const RunSummary> runs, std::span<const double> steps_ns) {
  if (runs.size() == 1) return runs.front().step_time_ns->interval;
  const Measured<Estimate> mean = mean_of_runs(steps_ns);
  return mean ? Interval(mean->interval) : Interval::missing(mean.reason());
}

Measured<double> exposed_share(std::span<const RunSummary> runs,
                               const Measured<store::StepPartition>& partition) {
  for (const RunSummary& summary : runs) {
    const auto& exposed_ns = summary.exposed_communication_ns;
    if (summary.probed_steps > 0 && !exposed_ns) return Measured<double>::missing(exposed_ns.reason());
  }
  if (!partition) return Measured<double>::missing(partition.reason());
  if (partition->total_ns() <= 0) return Measured<double>::missing("steps took no time");
  return static_cast<double>(partition->exposed_communication_ns()) /
         static_cast<double>(partition->total_ns());
}

/// The ideal step time as a multiple of the reference's: the ratio if nothing were lost.
double ideal_factor(const CaseFigures& reference, const RunCase& here) {
  if (here.scaling == ScalingMode::kWeak) return 1;
  return static_cast<double>(reference.run_case.world_size()) / here.world_size();
}

store::StepPartition ideal_partition(const CaseFigures& reference, double factor) {
  PartWeights weights{};
  for (std::size_t part = 0; part < weights.size(); ++part)
    weights[part] = static_cast<double>(reference.partition->ns[part]);
  return apportion(weights, std::llround(reference.step_time_ns->value * factor));
}

/// Of the difference of means over runs of `value_of(partition)`, the reference's times `factor`; about
/// `centre`.
template <typename ValueOf>
ConfidenceInterval interval_of_difference(const CaseFigures& here, const CaseFigures& reference,
                                          double factor, std::int64_t centre, const ValueOf& value_of) {
  constexpr double kLevel = 0.95;
  const auto moments_of = [&](const std::vector<store::StepPartition>& partitions) {
    std::vector<double> values;
    for (const store::StepPartition& partition : partitions)
      values.push_back(static_cast<double>(value_of(partition)));
    return run_moments(values);
  };
  const RunMoments mine = moments_of(here.run_partitions);
  const RunMoments theirs = moments_of(reference.run_partitions);
  const double my_variance = believed_variance(mine) / mine.count;
  const double their_variance = factor * factor * believed_variance(theirs) / theirs.count;
  const double variance = my_variance + their_variance;
  double reach = 0;
  if (variance > 0) {
    const double freedom =
        variance * variance /
        (my_variance * my_variance / (mine.count - 1) + their_variance * their_variance / (theirs.count - 1));
    reach = t_quantile((1 + kLevel) / 2, freedom) * std::sqrt(variance);
  }
  const auto value = static_cast<double>(centre);
  return {value - reach, value + reach, kLevel,
          fmt::format("Welch's t over {:.0f} and {:.0f} runs", mine.count, theirs.count)};
}

Measured<LossIntervals> loss_intervals(const CaseFigures& here, const CaseFigures& reference, double factor,
                                       const Waterfall& waterfall) {
  if (here.runs == reference.runs) return Measured<LossIntervals>::missing(kItself);
  const std::size_t fewest = std::min(here.run_partitions.size(), reference.run_partitions.size());
  if (fewest < kFewestRuns) {
    return Measured<LossIntervals>::missing(
        fmt::format("{} and {} run(s): an interval over runs needs {} or more each (--repeat {})",
                    here.run_partitions.size(), reference.run_partitions.size(), kFewestRuns, kFewestRuns));
  }
  LossIntervals intervals;
  for (std::size_t part = 0; part < intervals.parts.size(); ++part) {
    intervals.parts[part] =
        interval_of_difference(here, reference, factor, waterfall.lost.ns[part],
                               [part](const store::StepPartition& partition) { return partition.ns[part]; });
  }
  intervals.lost =
      interval_of_difference(here, reference, factor, waterfall.lost_ns,
                             [](const store::StepPartition& partition) { return partition.total_ns(); });
  return intervals;
}

Measured<Waterfall> waterfall_of(const CaseFigures& reference, const CaseFigures& here) {
  if (!here.partition) return Measured<Waterfall>::missing(here.partition.reason());
  if (!reference.partition) return Measured<Waterfall>::missing("baseline: " + reference.partition.reason());
  const double factor = ideal_factor(reference, here.run_case);
  const store::StepPartition ideal = ideal_partition(reference, factor);
  Waterfall waterfall;
  for (std::size_t part = 0; part < ideal.ns.size(); ++part)
    waterfall.lost.ns[part] = here.partition->ns[part] - ideal.ns[part];
  waterfall.lost_ns = waterfall.lost.total_ns();
  waterfall.intervals = loss_intervals(here, reference, factor, waterfall);
  return waterfall;
}

Measured<Metric> serial_fraction_of(const CaseFigures& reference, const CaseFigures& here,
                                    const CaseEfficiency& result) {
  if (!has_known_batch(here.run_case)) return Measured<Metric>::missing("the batch is not known, nor whether the work stays fixed");
  if (here.run_case.scaling == ScalingMode::kWeak) return Measured<Metric>::missing("weak scaling");
  if (here.runs == reference.runs) return Measured<Metric>::missing(kItself);
  if (result.n <= 1) {
    return Measured<Metric>::missing("as many GPUs as the baseline: " +
                                     gpus(reference.run_case.world_size()));
  }
  Metric metric{"serial fraction", "1", karp_flatt(result.speedup.value, result.n), {}};
  if (const Interval& speedup = result.speedup.interval) {
    metric.interval = ConfidenceInterval{karp_flatt(speedup->high, result.n),
                                         karp_flatt(speedup->low, result.n), speedup->level, speedup->method};
  }
  return metric;
}

constexpr const char* kSamplesOfOneOnly =
    "the samples of a step are known of only one of the run and its baseline: --batch-per-gpu states them";

/// Empty where the two do the same work a GPU (weak scaling) or in all (strong).
std::string other_batch(const RunCase& there, const RunCase& here) {
  const bool is_weak = here.scaling == ScalingMode::kWeak;
  const bool is_equal = is_weak ? here.batch_per_gpu == there.batch_per_gpu : here.global_batch() == there.global_batch();
  if (is_equal) return {};
  if (has_known_batch(here) != has_known_batch(there)) return kSamplesOfOneOnly;
  if (!has_known_batch(here)) return "strong scaling compares equal global batches, and theirs are not known";
  return is_weak ? fmt::format("the baseline's batch per GPU is {}, the run's is {}", there.batch_per_gpu, here.batch_per_gpu)
                 : fmt::format("the baseline's global batch is {}, the run's is {}", there.global_batch(), here.global_batch());
}

/// Empty when the pair can be compared.
std::string reason_against_comparing(const RunSummary& baseline, const RunSummary& summary) {
  const RunCase& here = summary.run.run_case;
  const RunCase& there = baseline.run.run_case;
  if (!summary.run.valid) return "the run is invalid";
  if (!baseline.run.valid) return "the baseline is invalid: " + baseline.run.invalid_reason;
  if (!summary.work_per_s) return summary.work_per_s.reason();
  if (!baseline.work_per_s)
    return fmt::format("baseline {}: {}", baseline.run.id, baseline.work_per_s.reason());
  if (static_cast<bool>(summary.samples_per_s) != static_cast<bool>(baseline.samples_per_s)) return kSamplesOfOneOnly;
  if (summary.probed_steps == 0) return "no step was measured with the probes on";
  if (baseline.probed_steps == 0)
    return fmt::format("baseline {}: no step with the probes on", baseline.run.id);
  if (here.world_size() < there.world_size()) {
    return fmt::format("the baseline ran on more GPUs ({}) than the run ({})", there.world_size(),
                       here.world_size());
  }
  if (std::string other = other_batch(there, here); !other.empty()) return other;
  const auto changed = changed_files(baseline.run.environment.facts, summary.run.environment.facts);
  if (!changed.empty()) {
    return fmt::format("the script changed since the baseline, run {}: {}; --baseline measures it anew", baseline.run.id,
                       files_in_words(changed));
  }
  return {};
}

}  // namespace

Measured<store::StepPartition> mean_partition(std::span<const store::StepPartition> partitions,
                                              double step_time_ns) {
  if (partitions.empty())
    return Measured<store::StepPartition>::missing("no step was measured with the probes on");
  PartWeights sums{};
  for (const store::StepPartition& partition : partitions) {
    for (std::size_t part = 0; part < sums.size(); ++part)
      sums[part] += static_cast<double>(partition.ns[part]);
  }
  return apportion(sums, std::llround(step_time_ns));
}

CaseFigures case_figures(std::span<const RunSummary> runs) {
  CaseFigures figures;
  figures.run_case = runs.front().run.run_case;
  std::vector<double> steps_ns;
  std::string without_step_time;
  for (const RunSummary& summary : runs) {
    figures.runs.push_back(summary.run.id);
    figures.run_samples_per_s.push_back(*summary.work_per_s);
    if (!summary.samples_per_s) figures.without_samples = summary.samples_per_s.reason();
    if (summary.step_time_ns) steps_ns.push_back(summary.step_time_ns->value);
    if (!summary.step_time_ns) without_step_time = summary.step_time_ns.reason();
    if (summary.probed_steps > 0) figures.run_partitions.push_back(summary.partition);
  }
  figures.samples_per_s = *geometric_mean(figures.run_samples_per_s, "");
  if (without_step_time.empty()) {
    figures.step_time_ns = Quantity{*geometric_mean(steps_ns, ""), interval_over_runs(runs, steps_ns)};
    figures.partition = mean_partition(figures.run_partitions, figures.step_time_ns->value);
  } else {
    figures.step_time_ns = Measured<Quantity>::missing(without_step_time);
    figures.partition = Measured<store::StepPartition>::missing(without_step_time);
  }
  figures.exposed_share = exposed_share(runs, figures.partition);
  return figures;
}

Measured<CaseEfficiency> efficiency_against(const CaseFigures& reference, const CaseFigures& here) {
  if (std::string other = other_batch(reference.run_case, here.run_case); !other.empty())
    return Measured<CaseEfficiency>::missing(std::move(other));
  if (reference.without_samples.empty() != here.without_samples.empty())
    return Measured<CaseEfficiency>::missing(kSamplesOfOneOnly);
  CaseEfficiency result;
  result.n = static_cast<double>(here.run_case.world_size()) / reference.run_case.world_size();
  result.speedup = ratio_of_runs(here.run_samples_per_s, reference.run_samples_per_s);
  if (here.runs == reference.runs) result.speedup.interval = Interval::missing(kItself);
  result.efficiency = {result.speedup.value / result.n, result.speedup.interval};
  if (result.speedup.interval) {
    ConfidenceInterval interval = *result.speedup.interval;
    interval.low /= result.n;
    interval.high /= result.n;
    result.efficiency.interval = std::move(interval);
  }
  result.serial_fraction = serial_fraction_of(reference, here, result);
  result.waterfall = waterfall_of(reference, here);
  return result;
}

std::string doubt_about_efficiency(double efficiency, double n) {
  if (!(efficiency > kMostPlausibleEfficiency)) return {};
  if (n < 1) {
    return fmt::format("an efficiency of {:.1f}% is against a reference of more GPUs: above 100%, a GPU does more work here than one of the reference",
                       100 * efficiency);
  }
  return fmt::format(
      "an efficiency of {:.1f}% is hardly possible: check that the baseline did the same work (script, arguments, data, batch of a "
      "rank) and that nothing slowed it down (CPU steal, throttling, other programs)",
      100 * efficiency);
}

std::string reason_without_baseline(const store::RunRecord& run) {
  if (!run.baseline_id.empty()) return fmt::format("baseline run {} is not in this store", run.baseline_id);
  if (run.run_case.world_size() == 1) return "the run has 1 GPU: it is what others are compared with";
  if (run.provenance.has(Provenance::kImported))
    return "no baseline: `ddbench scaling` compares imported runs of several sizes";
  if (is_program(run.run_case)) return "no baseline: --baseline measures the program on 1 GPU first";
  return "no baseline";
}

Measured<Efficiency> efficiency_against(const RunSummary& baseline, const RunSummary& summary) {
  if (std::string reason = reason_against_comparing(baseline, summary); !reason.empty()) {
    return Measured<Efficiency>::missing(std::move(reason));
  }
  const Measured<CaseEfficiency> of_cases = efficiency_against(case_figures({&baseline, 1}), case_figures({&summary, 1}));
  if (!of_cases) return Measured<Efficiency>::missing(of_cases.reason());
  const CaseEfficiency& found = *of_cases;
  Efficiency result;
  result.baseline = baseline.run;
  result.value = found.efficiency.value;
  result.speedup = found.speedup.value;
  result.interval = found.efficiency.interval;
  result.speedup_interval = found.speedup.interval;
  result.serial_fraction = found.serial_fraction ? Measured<double>(found.serial_fraction->value)
                                                 : Measured<double>::missing(found.serial_fraction.reason());
  result.waterfall = found.waterfall->lost;
  result.lost_ns = found.waterfall->lost_ns;
  result.loss_intervals = found.waterfall->intervals;
  return result;
}

}  // namespace ddbench::analyzer
