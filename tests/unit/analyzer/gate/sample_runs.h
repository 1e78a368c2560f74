#pragma once

#include <string>
#include <vector>

#include "analyzer/gate/gate.h"

namespace ddbench::analyzer::test {

inline constexpr std::int64_t kMinute_ns = 60'000'000'000;
inline constexpr std::int64_t kDay_ns = 24 * 60 * kMinute_ns;

/// A finished, valid run of 2 x 2 ranks that took 30 s, with every metric measured. Values other than the
/// step time are in proportion to it; the partition is 80% backward and 20% exposed transfer.
inline RunMeasures sample_run(const std::string& id, std::int64_t started_ns, double step_ms) {
  RunMeasures measures;
  store::RunRecord& run = measures.run;
  run.id = id;
  run.state = store::RunState::kDone;
  run.run_case.nodes = 2;
  run.run_case.gpus_per_node = 2;
  run.environment.fingerprint = "aaaa";
  run.environment.network = "veth";
  run.environment.facts = {{"cpu.model", "Fast 9000"}};
  run.provenance = {Provenance::kMeasured};
  run.baseline_id = "one-gpu";
  run.owner_host = "host";
  run.owner_boot_id = "boot";
  run.started_wall_ns = started_ns;
  run.finished_wall_ns = started_ns + kMinute_ns / 2;
  const double step_ns = step_ms * 1e6;
  measures[RunMetric::kStepTime] = step_ns;
  measures[RunMetric::kThroughput] = 256e9 / step_ns;
  measures[RunMetric::kEfficiency] = 5e6 / step_ns;
  measures[RunMetric::kExposed] = 0.2 * step_ns;
  measures[RunMetric::kBusBandwidth] = 1e7 / step_ns;
  measures[RunMetric::kHostMemory] = 1e8;
  measures[RunMetric::kDeviceMemory] = 1e8;
  measures.partition[store::StepPart::kBackward] = static_cast<std::int64_t>(0.8 * step_ns);
  measures.partition[store::StepPart::kExposedTransfer] = static_cast<std::int64_t>(0.2 * step_ns);
  CollectiveSummary bucket;
  bucket.record = {"all_reduce", 0, 1 << 20, 60, static_cast<std::int64_t>(0.1 * step_ns), 0, 0, true};
  bucket.transfer_ns = bucket.record.transfer_ns;
  bucket.algbw_gb_per_s = bucket.busbw_gb_per_s = 1e7 / step_ns;
  measures.collectives = {bucket};
  measures.probed_steps = 60;
  return measures;
}

/// Runs that follow each other by a minute from `started_ns` on.
inline GateSide sample_side(const std::string& name, const std::vector<double>& step_ms,
                            std::int64_t started_ns = kDay_ns) {
  GateSide side;
  side.reference = name;
  side.meaning = "runs named " + name;
  for (std::size_t i = 0; i < step_ms.size(); ++i) {
    side.runs.push_back(sample_run(name + std::to_string(i),
                                   started_ns + static_cast<std::int64_t>(i) * kMinute_ns, step_ms[i]));
  }
  return side;
}

/// Moves the runs of both sides so that they interleave: baseline first in even pairs, candidate first in odd
/// ones.
inline void interleave(GateSide& baseline, GateSide& candidate) {
  for (std::size_t i = 0; i < baseline.runs.size() && i < candidate.runs.size(); ++i) {
    const auto first = kDay_ns + static_cast<std::int64_t>(2 * i) * kMinute_ns;
    store::RunRecord& a = baseline.runs[i].run;
    store::RunRecord& b = candidate.runs[i].run;
    a.started_wall_ns = first + (i % 2 == 1 ? kMinute_ns : 0);
    b.started_wall_ns = first + (i % 2 == 0 ? kMinute_ns : 0);
    for (store::RunRecord* run : {&a, &b}) run->finished_wall_ns = run->started_wall_ns + kMinute_ns / 2;
  }
}

}  // namespace ddbench::analyzer::test
