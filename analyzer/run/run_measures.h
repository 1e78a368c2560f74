#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/run/run_summary.h"
#include "core/measured.h"
#include "core/run_case/records.h"

namespace ddbench::analyzer {

/// What the gate and the history look at: one number a run.
enum class RunMetric : std::uint8_t {
  kStepTime,      ///< elapsed time / steps (StepRate), ns
  kThroughput,    ///< samples/s
  kEfficiency,    ///< S(N)/N against the run's own baseline
  kExposed,       ///< exposed communication of a step, ns
  kBusBandwidth,  ///< busbw of the largest collective (of several the largest communicator's), 1e9 B/s
  kHostMemory,    ///< peak of the host's memory, of the rank that needed most, bytes
  kDeviceMemory,  ///< device_peak_bytes (analyzer/run/utilisation.h), bytes
};
inline constexpr int kRunMetricCount = 7;

std::string_view to_string(RunMetric metric) noexcept;  ///< "step_time", "throughput", "efficiency", ...
std::string_view unit_of(RunMetric metric) noexcept;    ///< "ns", "samples/s", "1", "ns", "GB/s", "bytes"
bool lower_is_better(RunMetric metric) noexcept;
/// Inverse of to_string, and of "peak_memory", an older name of host_memory; throws Error{kBadInput} that lists the names.
RunMetric run_metric_from(std::string_view name);
std::vector<RunMetric> all_run_metrics();

/// One run as a comparison sees it.
struct RunMeasures {
  store::RunRecord run;
  /// Indexed by RunMetric. Every value is finite and above 0, exposed communication 0 or more; otherwise it
  /// is missing with the reason.
  std::array<Measured<double>, kRunMetricCount> values = missing_values();
  store::StepPartition partition;  ///< of the step time; all 0 when there is none
  std::vector<CollectiveSummary> collectives;
  int probed_steps = 0;  ///< with the probes on: those that collectives were counted in

  const Measured<double>& operator[](RunMetric metric) const {
    return values[static_cast<std::size_t>(metric)];
  }
  Measured<double>& operator[](RunMetric metric) { return values[static_cast<std::size_t>(metric)]; }

 private:
  static std::array<Measured<double>, kRunMetricCount> missing_values();
};

/// A measured value for logarithms and ratios, above 0: exposed communication below 0.1% of the step counts
/// as 0.1% of it, so that a run that hides all of it can be compared.
double comparable_value(const RunMeasures& run, RunMetric metric);

RunMeasures measure_run(const RunSummary& summary);
/// Reads and summarises each run.
std::vector<RunMeasures> measure_runs(const store::RunStore& store,
                                      const std::vector<store::RunRecord>& runs);
std::vector<store::RunRecord> records_of(const std::vector<RunMeasures>& runs);

}  // namespace ddbench::analyzer
