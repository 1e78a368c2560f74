#include "analyzer/run/run_measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>

#include "analyzer/run/case_figures.h"
#include "core/error.h"

namespace ddbench::analyzer {
namespace {

/// Their rows are held at once.
constexpr std::size_t kRunsAtOnce = 256;

struct MetricWords {
  std::string_view name;
  std::string_view unit;
  bool lower_is_better;
};

constexpr std::array<MetricWords, kRunMetricCount> kWords{{{"step_time", "ns", true},
                                                           {"throughput", "samples/s", false},
                                                           {"efficiency", "1", false},
                                                           {"exposed", "ns", true},
                                                           {"busbw", "GB/s", false},
                                                           {"host_memory", "bytes", true},
                                                           {"device_memory", "bytes", true}}};

const MetricWords& words(RunMetric metric) {
  return kWords[static_cast<std::size_t>(metric)];
}

/// A ratio needs values above zero on both sides; zero is never a measurement.
Measured<double> positive(double value, std::string_view what) {
  if (std::isfinite(value) && value > 0) return value;
  return Measured<double>::missing(fmt::format("{} is {:g}: nothing was measured", what, value));
}

Measured<double> step_time(const RunSummary& summary) {
  if (summary.step_time_ns) return positive(summary.step_time_ns->value, "the step time");
  return Measured<double>::missing(summary.step_time_ns.reason());
}

Measured<double> checked(const Measured<double>& value, std::string_view what) {
  return value ? positive(*value, what) : value;
}

Measured<double> exposed(const RunSummary& summary) {
  if (summary.run.run_case.world_size() == 1)
    return Measured<double>::missing("one rank does not communicate");
  if (summary.probed_steps == 0) return Measured<double>::missing("no step was measured with the probes on");
  if (summary.communication_ns <= 0) return Measured<double>::missing("no communication spans were recorded");
  const auto& exposed_ns = summary.exposed_communication_ns;
  if (!exposed_ns) return Measured<double>::missing(exposed_ns.reason());
  return static_cast<double>(*exposed_ns);
}

Measured<double> bus_bandwidth(const RunSummary& summary) {
  if (summary.run.run_case.world_size() == 1)
    return Measured<double>::missing("one rank does not communicate");
  if (summary.collectives.empty()) return Measured<double>::missing("no communication spans were recorded");
  const auto largest =
      std::max_element(summary.collectives.begin(), summary.collectives.end(),
                       [](const auto& a, const auto& b) {
                         return std::pair(a.record.bytes, a.record.communicator.ranks) <
                                std::pair(b.record.bytes, b.record.communicator.ranks);
                       });
  return checked(largest->busbw_gb_per_s, "the bus bandwidth");
}

Measured<double> host_memory(const RunSummary& summary) {
  std::int64_t most = 0;
  for (const store::RankRecord& rank : summary.ranks) {
    if (rank.peak_memory_bytes <= 0) {
      return Measured<double>::missing(fmt::format("rank {} did not report peak memory", rank.rank));
    }
    most = std::max(most, rank.peak_memory_bytes);
  }
  if (most == 0) return Measured<double>::missing("no rank reported its peak memory");
  return static_cast<double>(most);
}

std::vector<store::RunId> ids_of(std::span<const store::RunRecord> runs) {
  std::vector<store::RunId> ids;
  for (const store::RunRecord& run : runs) ids.push_back(run.id);
  return ids;
}

}  // namespace

std::string_view to_string(RunMetric metric) noexcept {
  return words(metric).name;
}
std::string_view unit_of(RunMetric metric) noexcept {
  return words(metric).unit;
}
bool lower_is_better(RunMetric metric) noexcept {
  return words(metric).lower_is_better;
}

RunMetric run_metric_from(std::string_view name) {
  if (name == "peak_memory") return RunMetric::kHostMemory;
  std::string allowed;
  for (const RunMetric metric : all_run_metrics()) {
    if (to_string(metric) == name) return metric;
    allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", to_string(metric));
  }
  throw Error(ErrorCode::kBadInput, fmt::format("there is no metric \"{}\"; there are {}", name, allowed));
}

std::vector<RunMetric> all_run_metrics() {
  std::vector<RunMetric> metrics;
  for (int i = 0; i < kRunMetricCount; ++i) metrics.push_back(static_cast<RunMetric>(i));
  return metrics;
}

std::array<Measured<double>, kRunMetricCount> RunMeasures::missing_values() {
  const auto none = Measured<double>::missing("not measured");
  return {none, none, none, none, none, none, none};
}

double comparable_value(const RunMeasures& run, RunMetric metric) {
  constexpr double kLeastShareOfStep = 1e-3;
  constexpr double kLeast_ns = 1000;
  const double value = *run[metric];
  if (metric != RunMetric::kExposed) return value;
  return std::max(value,
                  run[RunMetric::kStepTime] ? kLeastShareOfStep * *run[RunMetric::kStepTime] : kLeast_ns);
}

RunMeasures measure_run(const RunSummary& summary) {
  RunMeasures measures;
  measures.run = summary.run;
  measures.partition = summary.partition;
  measures.collectives = summary.collectives;
  measures.probed_steps = summary.probed_steps;
  measures[RunMetric::kStepTime] = step_time(summary);
  measures[RunMetric::kThroughput] = checked(summary.samples_per_s, "the throughput");
  measures[RunMetric::kEfficiency] = summary.efficiency
                                         ? positive(summary.efficiency->value, "the efficiency")
                                         : Measured<double>::missing(summary.efficiency.reason());
  measures[RunMetric::kExposed] = exposed(summary);
  measures[RunMetric::kBusBandwidth] = bus_bandwidth(summary);
  measures[RunMetric::kHostMemory] = host_memory(summary);
  measures[RunMetric::kDeviceMemory] = device_peak_bytes(summary.run);
  return measures;
}

std::vector<RunMeasures> measure_runs(const store::RunStore& store,
                                      const std::vector<store::RunRecord>& runs) {
  std::map<store::RunId, std::optional<RunSummary>> baselines;
  const auto baseline_of = [&](const store::RunRecord& run) -> const std::optional<RunSummary>& {
    const auto [entry, is_new] = baselines.try_emplace(run.baseline_id);
    if (!is_new || run.baseline_id.empty()) return entry->second;
    if (auto record = store.run(run.baseline_id))
      entry->second = summarize_briefly(store, *std::move(record));
    return entry->second;
  };
  std::vector<RunMeasures> measures;
  measures.reserve(runs.size());
  for (std::size_t begin = 0; begin < runs.size(); begin += kRunsAtOnce) {
    const std::span<const store::RunRecord> part(runs.data() + begin,
                                                 std::min(kRunsAtOnce, runs.size() - begin));
    std::vector<store::RunRows> rows = store.rows(ids_of(part));
    for (std::size_t i = 0; i < part.size(); ++i) {
      RunSummary summary = summarize_rows(part[i], std::move(rows[i]));
      const std::optional<RunSummary>& baseline = baseline_of(part[i]);
      summary.efficiency = baseline ? efficiency_against(*baseline, summary)
                                    : Measured<Efficiency>::missing(reason_without_baseline(part[i]));
      measures.push_back(measure_run(summary));
    }
  }
  return measures;
}

std::vector<store::RunRecord> records_of(const std::vector<RunMeasures>& runs) {
  std::vector<store::RunRecord> records;
  for (const RunMeasures& run : runs) records.push_back(run.run);
  return records;
}

}  // namespace ddbench::analyzer
