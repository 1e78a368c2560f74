#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>

#include "core/run_case/program_case.h"
#include "example_summary.h"
#include "reports/formats/json/json.h"

namespace ddbench::reports {
namespace {

using nlohmann::json;

std::int64_t sum_of(const json& object) {
  std::int64_t sum = 0;
  for (const auto& [key, value] : object.items()) sum += value.get<std::int64_t>();
  return sum;
}

TEST(RunJson, PartsSumToTheStepToTheNanosecond) {
  const analyzer::RunSummary run = example_run();
  const json got = json::parse(run_json(run));
  EXPECT_EQ(sum_of(got["partition_ns"]), run.partition.total_ns());
  EXPECT_EQ(got["partition_step_ns"], run.partition.total_ns());
  EXPECT_EQ(sum_of(got["compute_ns"]), got["partition_ns"]["compute"]);
  EXPECT_EQ(sum_of(got["waterfall_ns"]), got["efficiency"]["lost_ns"]);
  EXPECT_EQ(sum_of(got["waterfall_compute_ns"]), got["waterfall_ns"]["compute"]);
  const std::int64_t waited_inside_ns = got["communication_ns"].get<std::int64_t>() -
                                        got["overlap_ns"].get<std::int64_t>() -
                                        got["exposed_communication_ns"].get<std::int64_t>();
  EXPECT_GE(waited_inside_ns, 0);
  EXPECT_LE(waited_inside_ns, got["cpu_wait_ns"]);
}

TEST(RunJson, HoldsTheFieldsThatOthersReadByName) {
  const json got = json::parse(run_json(example_run()));
  EXPECT_EQ(got["schema_version"], kJsonSchemaVersion);
  EXPECT_EQ(got["run"]["id"], "20261121T001905-3f9a1c2b");
  EXPECT_EQ(got["run"]["state"], "done");
  EXPECT_EQ(got["run"]["world_size"], 16);
  EXPECT_EQ(got["run"]["provenance"], (json{"measured", "emulated-network", "oversubscribed"}));
  EXPECT_DOUBLE_EQ(got["step_time_ns"]["value"], 103'400'000);
  EXPECT_DOUBLE_EQ(got["loss"]["last"], 0.4713);
  EXPECT_EQ(got["efficiency"]["baseline"], "20261121T001822-0c11d8aa");
  EXPECT_NEAR(got["efficiency"]["value"].get<double>(), 0.118, 1e-4);
  EXPECT_NEAR(got["collectives"][1]["busbw"].get<double>(), 26'214'400.0 / 210'450'000 * 1.875, 1e-12);
  EXPECT_DOUBLE_EQ(got["probe_overhead_percent"], 0.31);
  EXPECT_EQ(got["dropped_spans"], 0);
}

TEST(RunJson, SaysWhyAValueIsNull) {
  const json got = json::parse(run_json(example_failed_run()));
  EXPECT_TRUE(got["step_time_ns"]["value"].is_null());
  EXPECT_EQ(got["missing"]["step_time_ns"], "no steps");
  EXPECT_TRUE(got["partition_ns"]["compute"].is_null()) << "no step is not a step of 0 ns";
  EXPECT_TRUE(got["efficiency"]["value"].is_null());
  EXPECT_TRUE(got["waterfall_ns"]["idle"].is_null());
  EXPECT_EQ(got["missing"]["loss.first"], "no loss recorded");
  const json unresolved = json::parse(run_json(example_run()))["collectives"][0];
  EXPECT_TRUE(unresolved["peer_wait_ns"].is_null());
}

TEST(RunJson, WhatASourceDoesNotStateIsNull) {
  const json got = json::parse(run_json(example_imported_run()));
  for (const char* field : {"batch_per_gpu", "global_batch", "lr", "momentum", "seed", "first_bucket_bytes", "bucket_bytes", "data"})
    EXPECT_TRUE(got["run"][field].is_null()) << field;
  EXPECT_EQ(got["run"]["workload"], "resnet50");
  EXPECT_EQ(got["run"]["workload_options"]["batch"], "not stated");
  EXPECT_DOUBLE_EQ(got["samples_per_s"], 4500);
  EXPECT_TRUE(got["step_time_ns"]["value"].is_null());
  EXPECT_EQ(got["missing"]["step_time_ns"], "how long a step takes is not known");
  EXPECT_EQ(got["missing"]["samples_per_s_ci"], "how long a step takes is not known");
  EXPECT_EQ(got["missing"]["step_distribution_ns"], "the source gives one mean");
  EXPECT_TRUE(got["step_distribution_ns"]["skew"].is_null());
  EXPECT_TRUE(got["outlier_steps"]["count"].is_null());
  EXPECT_TRUE(got["steps"]["asked_for"].is_null());
  EXPECT_TRUE(got["steps"]["warmup"].is_null());
  EXPECT_EQ(got["missing"]["probe_overhead_percent"], "ddbench did not record this run");
  EXPECT_TRUE(json::parse(run_list_json({example_imported_run()}))[0]["batch_per_gpu"].is_null());
}

TEST(RunJson, WhatOnlyTheReferenceEngineHasIsNullForAProgram) {
  analyzer::RunSummary summary = example_run();
  set_program(summary.run.run_case, {"./train"});
  summary.run.run_case.lr = RunCase{}.lr;
  const json got = json::parse(run_json(summary));
  for (const char* field : {"lr", "momentum", "seed", "bucket_bytes", "data", "batch_per_gpu"}) EXPECT_TRUE(got["run"][field].is_null()) << field;
  EXPECT_DOUBLE_EQ(json::parse(run_json(example_run()))["run"]["momentum"], 0.9);
}

TEST(RunJson, IsAsciiAndParsesWhateverTheNamesAre) {
  const std::string text = run_json(example_hostile_run());
  for (const char c : text) EXPECT_TRUE((c >= 0x20 && c < 0x7f) || c == '\n');
  const json got = json::parse(text);
  EXPECT_EQ(got["run"]["name"].get<std::string>().substr(0, 4), "\x1b[2J");
  EXPECT_NO_THROW(json::parse(run_list_json({example_hostile_run()})));
}

TEST(RunListJson, IsAnArrayWithAnEntryForEachRun) {
  EXPECT_EQ(json::parse(run_list_json({})), json::array());
  const json got = json::parse(run_list_json({example_run(), example_failed_run()}));
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[1]["state"], "failed");
  EXPECT_TRUE(got[1]["efficiency"].is_null());
}

TEST(ScalingJson, HoldsEveryRow) {
  const json got = json::parse(scaling_json(example_strong_scaling()));
  ASSERT_EQ(got["rows"].size(), 3u);
  EXPECT_EQ(got["scaling"], "strong");
  EXPECT_NEAR(got["rows"][2]["speedup"].get<double>(), 195 / 13.54, 1e-12);
  EXPECT_EQ(got["rows"][0]["missing"]["serial_fraction"], "the baseline itself");
}

}  // namespace
}  // namespace ddbench::reports
