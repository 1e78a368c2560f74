#include "example_summary.h"
#include "analyzer/collectives/bus_factor.h"
#include "analyzer/statistics/karp_flatt.h"

namespace ddbench::reports {
namespace {

using analyzer::CollectiveSummary;
using analyzer::Efficiency;
using analyzer::Estimate;
using analyzer::RunSummary;
using analyzer::ScalingRow;
using analyzer::ScalingTable;
using store::StepPart;

constexpr std::int64_t kStart_ns = 1'795'220'345'000'000'000;  // 2026-11-21 00:19:05 UTC

store::StepPartition partition_of(std::array<std::int64_t, store::kStepPartCount> ns) {
  store::StepPartition partition;
  partition.ns = ns;
  return partition;
}

analyzer::Quantity step_estimate(double value, double low, double high) {
  return {value, ConfidenceInterval{low, high, 0.95,
                                    "Student's t, autocorrelated steps (n=60, worth 41 independent)"}};
}

store::RunRecord example_record(const std::string& id, int nodes, int gpus) {
  store::RunRecord run;
  run.id = id;
  run.run_case.nodes = nodes;
  run.run_case.gpus_per_node = gpus;
  run.state = store::RunState::kDone;
  run.provenance = {Provenance::kMeasured};
  run.environment.fingerprint = "5a1f";
  run.environment.network = "loopback";
  run.environment.facts = {{"cpu.cores", "2"}, {"cpu.model", "Example CPU"}};
  run.started_wall_ns = kStart_ns;
  run.finished_wall_ns = kStart_ns + 21'000'000'000;
  return run;
}

store::CollectiveRecord example_collective(int bucket, std::uint64_t bytes, std::int64_t transfer_ns) {
  store::CollectiveRecord record;
  record.function = "all_reduce";
  record.bucket = bucket;
  record.bytes = bytes;
  record.count = 45;
  record.transfer_ns = transfer_ns;
  record.duration_ns = transfer_ns + 7'000'000;
  record.peer_wait_ns = 6'900'000;
  record.communicator.ranks = 16;
  return record;
}

CollectiveSummary example_collective_summary(int bucket, std::uint64_t bytes, std::int64_t transfer_ns) {
  CollectiveSummary summary{example_collective(bucket, bytes, transfer_ns)};
  summary.transfer_ns = transfer_ns;
  summary.peer_wait_ns = summary.record.peer_wait_ns;
  const double algbw = static_cast<double>(bytes) / static_cast<double>(transfer_ns);
  summary.algbw_gb_per_s = algbw;
  summary.busbw_gb_per_s = algbw * analyzer::bus_factor("all_reduce", 16);
  return summary;
}

ScalingRow scaling_row(ScalingMode mode, int nodes, int gpus, double step_ns, double base_ns) {
  ScalingRow row;
  row.run_case.nodes = nodes;
  row.run_case.gpus_per_node = gpus;
  row.run_case.scaling = mode;
  row.run_case.batch_per_gpu = mode == ScalingMode::kStrong ? 1024 / (nodes * gpus) : 64;
  row.world_size = nodes * gpus;
  row.repetitions = 3;
  row.step_time_ns = analyzer::Quantity{
      step_ns, ConfidenceInterval{step_ns * 0.97, step_ns * 1.03, 0.95, "Student's t over 3 runs"}};
  row.samples_per_s = static_cast<double>(row.run_case.global_batch()) * 1e9 / step_ns;
  const double speedup = base_ns / step_ns * (mode == ScalingMode::kStrong ? 1 : row.world_size);
  row.speedup = speedup;
  row.efficiency = speedup / row.world_size;
  const auto within = [&](double value) -> Measured<ConfidenceInterval> {
    if (row.world_size == 1) return Measured<ConfidenceInterval>::missing("the baseline itself");
    return ConfidenceInterval{value * 0.96, value * 1.04, 0.95, "Welch's t of logarithms over 3 and 3 runs"};
  };
  row.speedup_interval = within(speedup);
  row.efficiency_interval = within(*row.efficiency);
  row.serial_fraction = row.world_size == 1 ? Measured<double>::missing("the baseline itself")
                        : mode == ScalingMode::kWeak
                            ? Measured<double>::missing("weak scaling")
                            : Measured<double>(analyzer::karp_flatt(speedup, row.world_size));
  row.exposed_communication_share = row.world_size == 1 ? 0 : 0.02 * row.world_size;
  row.provenance = {Provenance::kMeasured};
  if (row.world_size > 2) row.provenance.add(Provenance::kOversubscribed);
  row.state = "done";
  return row;
}

}  // namespace

RunSummary example_baseline() {
  RunSummary summary;
  summary.run = example_record("20261121T001822-0c11d8aa", 1, 1);
  summary.run.is_baseline = true;
  summary.ranks.resize(1);
  summary.measured_steps = 60;
  summary.probed_steps = 45;
  summary.step_time_ns = step_estimate(12'200'000, 12'050'000, 12'401'000);
  summary.samples_per_step = 64.0;
  summary.samples_per_s = summary.work_per_s = 64 / 12.2e-3;
  summary.distribution =
      analyzer::StepDistribution{12'010'000, 13'300'000, 14'900'000, 15'200'000, 0, 0, 0, 0};
  summary.loss_first = 2.3026;
  summary.loss_last = 0.4713;
  summary.overlap_interval = Measured<ConfidenceInterval>::missing("no step had any");
  summary.partition =
      partition_of({3'100'000, 6'400'000, 1'500'000, 0, 0, 0, 0, 0, 510'000, 600'000, 90'000});
  summary.exposed_communication_ns = summary.overlap_ns = 0;
  summary.cpu_wait_ns = 0;
  summary.compute_slowdown_percent = Measured<Estimate>::missing("no communication");
  summary.peer_wait_ns = Measured<std::int64_t>::missing("single rank: no peer wait");
  summary.probe_overhead_percent = Estimate{0.31, {-0.2, 0.8, 0.95, "paired"}};
  summary.efficiency =
      Measured<Efficiency>::missing("the run has 1 GPU: it is what others are compared with");
  return summary;
}

RunSummary example_run() {
  const RunSummary baseline = example_baseline();
  RunSummary summary = baseline;
  summary.run = example_record("20261121T001905-3f9a1c2b", 4, 4);
  summary.run.run_case.name = "night-42";
  summary.run.run_case.link = "1gbit";
  summary.run.run_case.tags = {{"commit", "f54adbc"}};
  summary.run.environment.network = "veth@1gbit";
  summary.run.baseline_id = baseline.run.id;
  summary.run.provenance = {Provenance::kMeasured, Provenance::kEmulatedNetwork, Provenance::kOversubscribed};
  summary.ranks.assign(16, {});
  for (int rank = 0; rank < 16; ++rank) {
    store::RankRecord& record = summary.ranks[static_cast<std::size_t>(rank)];
    record.rank = rank;
    record.local_rank = rank % 4;
    record.node = rank / 4;
    record.host = "example";
    record.cores = std::to_string(rank % 2);
    record.clock.shared_clock = true;
    record.peak_memory_bytes = 61'000'000;
    record.parameter_hash = "9c4e";
    record.outcome = "ok";
  }
  summary.step_time_ns = step_estimate(103'400'000, 101'200'000, 105'900'000);
  summary.samples_per_step = 1024.0;
  summary.samples_per_s = summary.work_per_s = 1024 / 103.4e-3;
  summary.distribution = analyzer::StepDistribution{102'100'000, 110'800'000, 131'000'000, 168'000'000,
                                                    4'810'000,   1,           1 / 60.0,    0.011};
  summary.utilisation = {0.118, 0.0366, 0.31, 0.36, 2};
  summary.partition = partition_of({3'412'345, 7'003'111, 1'600'002, 0, 6'011'203, 46'299'816, 21'207'456,
                                    512'778, 298'001, 6'801'234, 10'254'054});
  summary.exposed_communication_ns = summary.partition.exposed_communication_ns();
  summary.communication_ns = *summary.exposed_communication_ns + 4'100'000;
  summary.overlap_ns = 4'100'000;
  summary.overlap_interval = ConfidenceInterval{
      3'870'000, 4'343'000, 0.95, "Student's t, autocorrelated steps (n=45, worth 45 independent)"};
  summary.cpu_wait_ns = summary.partition[StepPart::kCpuWait];
  summary.communication_ns += 5'400'000;  // of the CPU wait, what lay in it
  summary.compute_slowdown_percent = Estimate{14.2, {9.6, 19.1, 0.95, "jackknife over groups of steps"}};
  summary.peer_wait_ns = 22'004'000;
  summary.peer_wait_uncertainty_ns = 36'000;
  summary.probe_account_ns = 104'000.0;
  summary.collectives = {example_collective_summary(0, 1'064'960, 9'310'000),
                         example_collective_summary(1, 26'214'400, 210'450'000)};
  summary.collectives[0].record.peer_wait_resolved = false;
  summary.collectives[0].peer_wait_ns = Measured<std::int64_t>::missing("below clock resolution");
  summary.collectives[1].record.transfer_uncertainty_ns = 4'200'000;
  summary.collectives[1].record.peer_wait_uncertainty_ns = 18'000;
  summary.collectives[1].clock_uncertainty_share = 0.02;
  summary.kernels = {{"linear_backward", "backward", 2160, 14'000'000'000, 9'400'000},
                     {"linear_forward", "forward", 2160, 7'000'000'000, 4'400'000}};
  Efficiency efficiency;
  efficiency.baseline = baseline.run;
  efficiency.speedup = *summary.samples_per_s / *baseline.samples_per_s;
  efficiency.value = efficiency.speedup / 16;
  for (std::size_t i = 0; i < summary.partition.ns.size(); ++i) {
    efficiency.waterfall.ns[i] = summary.partition.ns[i] - baseline.partition.ns[i];
  }
  efficiency.lost_ns = efficiency.waterfall.total_ns();
  constexpr const char* kTooFew = "1 and 1 run(s): an interval over runs needs 3 or more each (--repeat 3)";
  efficiency.interval = efficiency.speedup_interval = Measured<ConfidenceInterval>::missing(kTooFew);
  efficiency.loss_intervals = Measured<analyzer::LossIntervals>::missing(kTooFew);
  summary.efficiency = efficiency;
  summary.notes = {
      "oversubscribed: 16 ranks share 2 cores: at best 12.5% efficiency can be seen here, whatever the "
      "network",
      "emulated network veth@1gbit: 4 nodes are emulated on one machine; results do not represent a "
      "real network"};
  return summary;
}

RunSummary example_failed_run() {
  RunSummary summary;
  summary.run = example_record("20261121T002100-77aa0001", 2, 2);
  summary.run.state = store::RunState::kFailed;
  summary.run.reason = "rank 3 (node 1) was killed by signal 9 at step 2";
  summary.run.valid = false;
  summary.run.invalid_reason =
      "no measured step was recorded (5 warm-up and 60 measured steps were asked for)";
  summary.peer_wait_ns = Measured<std::int64_t>::missing("no collectives");
  summary.efficiency = Measured<Efficiency>::missing("the run is invalid");
  summary.notes = {"INVALID, do not use these figures: " + summary.run.invalid_reason};
  return summary;
}

RunSummary example_imported_run() {
  RunSummary summary;
  summary.run = example_record("20261121T002300-0123abcd", 1, 8);
  summary.run.run_case = {};
  summary.run.run_case.gpus_per_node = 8;
  summary.run.run_case.batch_per_gpu = summary.run.run_case.steps = 1;
  summary.run.run_case.warmup = 0;
  summary.run.run_case.device = summary.run.run_case.backend = summary.run.run_case.strategy = "";
  summary.run.run_case.precision = summary.run.run_case.optimizer = "";
  summary.run.run_case.work = ReferenceWorkload{.name = "resnet50", .batch_is_known = false};
  summary.run.provenance = {Provenance::kImported};
  summary.ranks.resize(1);
  summary.measured_steps = 1;
  summary.samples_per_s = summary.work_per_s = 4500;
  summary.samples_per_step = Measured<double>::missing("the imported source states no batch");
  summary.step_time_ns = Measured<analyzer::Quantity>::missing("how long a step takes is not known");
  summary.distribution = Measured<analyzer::StepDistribution>::missing(analyzer::kOneMean);
  summary.probe_overhead_percent = Measured<Estimate>::missing("ddbench did not record this run");
  return summary;
}

RunSummary example_invalid_run() {
  RunSummary summary = example_run();
  summary.run.id = "20261121T002205-00ff00ff";
  summary.run.valid = false;
  summary.run.invalid_reason = "rank 0 of 16 shows no communication in its measured steps";
  summary.efficiency = Measured<Efficiency>::missing("the run is invalid");
  summary.notes.insert(summary.notes.begin(),
                       "INVALID, do not use these figures: " + summary.run.invalid_reason);
  return summary;
}

RunSummary example_hostile_run() {
  RunSummary summary = example_failed_run();
  const std::string hostile =
      "\x1b[2J\x1b]0;owned\x07\nrm -rf\r\xff\xc0\xaf\xe2\x80\xae"
      "txt.exe\xc2\x9b"
      "31m\xed\xa0\x80";
  summary.run.run_case.name = hostile;
  summary.run.run_case.work = ReferenceWorkload{hostile};
  summary.run.run_case.tags = {{hostile, hostile}};
  std::get<ReferenceWorkload>(summary.run.run_case.work).options = {{hostile, hostile}};
  summary.run.run_case.link = hostile;
  summary.run.run_case.device = hostile;
  summary.run.reason = hostile;
  summary.run.invalid_reason = hostile;
  summary.run.environment.network = hostile;
  summary.run.environment.facts = {{hostile, hostile}};
  summary.efficiency = Measured<Efficiency>::missing(hostile);
  summary.collectives = {CollectiveSummary{example_collective(0, 1, 1)}};
  summary.collectives[0].record.function = hostile;
  summary.collectives[0].transfer_ns = 1;
  summary.collectives[0].peer_wait_ns = summary.collectives[0].record.peer_wait_ns;
  summary.kernels = {{hostile, "forward", 1, 1, 1}};
  summary.notes = {hostile};
  return summary;
}

ScalingTable example_strong_scaling() {
  ScalingTable table;
  table.sweep_id = "sweep-7";
  table.mode = ScalingMode::kStrong;
  table.baseline = "1 GPU (run 20261121T001822-0c11d8aa)";
  table.rows = {scaling_row(table.mode, 1, 1, 195e6, 195e6), scaling_row(table.mode, 1, 4, 61e6, 195e6),
                scaling_row(table.mode, 4, 4, 13.54e6, 195e6)};
  return table;
}

ScalingTable example_weak_scaling() {
  ScalingTable table;
  table.sweep_id = "sweep-8";
  table.baseline = "1 GPU (run 20261121T001822-0c11d8aa)";
  table.rows = {scaling_row(table.mode, 1, 1, 12.2e6, 12.2e6), scaling_row(table.mode, 1, 2, 14.1e6, 12.2e6),
                scaling_row(table.mode, 4, 4, 103.4e6, 12.2e6)};
  ScalingRow& failed = table.rows.emplace_back();
  failed.run_case.nodes = 8;
  failed.run_case.gpus_per_node = 4;
  failed.world_size = 32;
  failed.state = "failed: rank 3 (node 1) was killed by signal 9";
  failed.speedup_interval = failed.efficiency_interval = Measured<ConfidenceInterval>::missing(failed.state);
  failed.speedup = failed.efficiency = failed.serial_fraction = Measured<double>::missing(failed.state);
  table.notes = {"run 20261121T002100-77aa0001 (32 GPUs) is left out: " + failed.state,
                 "provenances are mixed: see the column of each row"};
  return table;
}

}  // namespace ddbench::reports
