#include "sample_records.h"

#include <gtest/gtest.h>

namespace ddbench::test {

using namespace store;

const std::string kHostileText =
    std::string("it's \"x\"; DROP TABLE run;--\n%_?\t\\ \xF0\x9F\x9A\x80 \xC3\xA4 \0 nul", 47);

RunRecord full_run(const std::string& id) {
  RunRecord run;
  run.id = id;
  RunCase& c = run.run_case;
  c.work = ReferenceWorkload{"transformer"};
  std::get<ReferenceWorkload>(c.work).options = {{"hidden", "512,512"}, {kHostileText, kHostileText}};
  c.data = "/data/it's here";
  c.nodes = 4;
  c.gpus_per_node = 8;
  c.scaling = ScalingMode::kStrong;
  c.batch_per_gpu = 96;
  c.precision = "bf16";
  c.strategy = "zero1";
  c.device = "cuda";
  c.backend = "nccl";
  c.optimizer = "adamw";
  c.lr = 0.1;
  c.momentum = 1.0 / 3.0;
  c.seed = ~std::uint64_t{0};
  c.steps = 123;
  c.warmup = 7;
  c.first_bucket_bytes = 11;
  c.bucket_bytes = std::int64_t{1} << 40;
  c.link = "1gbit";
  c.sku = "p4d";
  c.name = kHostileText;
  c.tags = {{"team", "a\"b"}};
  run.state = RunState::kFailed;
  run.reason = kHostileText;
  run.valid = false;
  run.invalid_reason = "replicas differ";
  run.sweep_id = "sweep'1";
  run.baseline_id = "20261121T000000-00000000";
  run.repetition = 3;
  run.provenance = {Provenance::kEmulatedNetwork, Provenance::kOversubscribed};
  run.environment = {"finger'print", "veth@1gbit", {{"cpu.model", kHostileText}, {"", ""}}};
  run.started_wall_ns = 1'795'219'145'123'456'789;
  run.finished_wall_ns = 1'795'219'146'123'456'789;
  run.is_baseline = true;
  run.owner_pid = 4'000'000;
  run.owner_start_ticks = 123'456'789'012;
  run.owner_boot_id = "boot";
  run.owner_host = "host";
  return run;
}

RunRecord plain_run(const std::string& id, std::int64_t started_wall_ns) {
  RunRecord run;
  run.id = id;
  run.started_wall_ns = started_wall_ns;
  return run;
}

RankRecord full_rank(int rank) {
  RankRecord record;
  record.rank = rank;
  record.local_rank = rank + 10;
  record.node = rank + 20;
  record.host = kHostileText;
  record.pid = 30 + rank;
  record.cores = "0,1";
  record.clock = {{1, -2, 3}, {4, -5, 6}, true, {{2, -3, 4}, {3, -4, 5}}};
  record.dropped_spans = ~std::uint64_t{0} - static_cast<std::uint64_t>(rank);
  record.peak_memory_bytes = std::int64_t{1} << 50;
  record.parameter_hash = "00ff";
  record.outcome = "killed by signal 9";
  return record;
}

StepRecord full_step(int rank, std::uint32_t step) {
  StepRecord record;
  record.rank = rank;
  record.step = step;
  record.begin_ns = 1000 + step;
  record.duration_ns = 2000 + step;
  record.probes_on = false;
  for (int part = 0; part < kStepPartCount; ++part) record.partition[static_cast<StepPart>(part)] = 10 + part;
  record.communication_ns = 31;
  record.overlap_ns = 32;
  record.peer_wait_ns = 33;
  record.peer_wait_uncertainty_ns = 34;
  record.loss = 0.1 * step;
  return record;
}

void expect_same(const RunRecord& actual, const RunRecord& expected) {
  EXPECT_EQ(actual.id, expected.id);
  EXPECT_EQ(to_json(actual.run_case), to_json(expected.run_case));
  EXPECT_EQ(actual.state, expected.state);
  EXPECT_EQ(actual.reason, expected.reason);
  EXPECT_EQ(actual.valid, expected.valid);
  EXPECT_EQ(actual.invalid_reason, expected.invalid_reason);
  EXPECT_EQ(actual.sweep_id, expected.sweep_id);
  EXPECT_EQ(actual.baseline_id, expected.baseline_id);
  EXPECT_EQ(actual.repetition, expected.repetition);
  EXPECT_EQ(actual.provenance, expected.provenance);
  EXPECT_EQ(actual.environment.fingerprint, expected.environment.fingerprint);
  EXPECT_EQ(actual.environment.network, expected.environment.network);
  EXPECT_EQ(actual.environment.facts, expected.environment.facts);
  EXPECT_EQ(actual.started_wall_ns, expected.started_wall_ns);
  EXPECT_EQ(actual.finished_wall_ns, expected.finished_wall_ns);
  EXPECT_EQ(actual.is_baseline, expected.is_baseline);
  EXPECT_EQ(actual.owner_pid, expected.owner_pid);
  EXPECT_EQ(actual.owner_start_ticks, expected.owner_start_ticks);
  EXPECT_EQ(actual.owner_boot_id, expected.owner_boot_id);
  EXPECT_EQ(actual.owner_host, expected.owner_host);
}

namespace {

void expect_same(const ClockReading& actual, const ClockReading& expected) {
  EXPECT_EQ(actual.at_ns, expected.at_ns);
  EXPECT_EQ(actual.offset_ns, expected.offset_ns);
  EXPECT_EQ(actual.uncertainty_ns, expected.uncertainty_ns);
}

}  // namespace

void expect_same(const RankRecord& actual, const RankRecord& expected) {
  EXPECT_EQ(actual.rank, expected.rank);
  EXPECT_EQ(actual.local_rank, expected.local_rank);
  EXPECT_EQ(actual.node, expected.node);
  EXPECT_EQ(actual.host, expected.host);
  EXPECT_EQ(actual.pid, expected.pid);
  EXPECT_EQ(actual.cores, expected.cores);
  expect_same(actual.clock.start, expected.clock.start);
  expect_same(actual.clock.end, expected.clock.end);
  ASSERT_EQ(actual.clock.between.size(), expected.clock.between.size());
  for (std::size_t i = 0; i < expected.clock.between.size(); ++i)
    expect_same(actual.clock.between[i], expected.clock.between[i]);
  EXPECT_EQ(actual.clock.shared_clock, expected.clock.shared_clock);
  EXPECT_EQ(actual.dropped_spans, expected.dropped_spans);
  EXPECT_EQ(actual.peak_memory_bytes, expected.peak_memory_bytes);
  EXPECT_EQ(actual.parameter_hash, expected.parameter_hash);
  EXPECT_EQ(actual.outcome, expected.outcome);
}

void expect_same(const StepRecord& actual, const StepRecord& expected) {
  EXPECT_EQ(actual.rank, expected.rank);
  EXPECT_EQ(actual.step, expected.step);
  EXPECT_EQ(actual.begin_ns, expected.begin_ns);
  EXPECT_EQ(actual.duration_ns, expected.duration_ns);
  EXPECT_EQ(actual.probes_on, expected.probes_on);
  EXPECT_EQ(actual.partition.ns, expected.partition.ns);
  EXPECT_EQ(actual.communication_ns, expected.communication_ns);
  EXPECT_EQ(actual.overlap_ns, expected.overlap_ns);
  EXPECT_EQ(actual.peer_wait_uncertainty_ns, expected.peer_wait_uncertainty_ns);
  EXPECT_EQ(actual.peer_wait_ns, expected.peer_wait_ns);
  EXPECT_TRUE(actual.loss == expected.loss || (std::isnan(actual.loss) && std::isnan(expected.loss)));
}

}  // namespace ddbench::test
