#include "reports/formats/mlflow/mlflow.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "core/error.h"
#include "core/run_case/program_case.h"
#include "expect_error.h"
#include "hostile_names.h"
#include "reports/formats/mlflow/run_values.h"
#include "sample_store_test.h"

namespace ddbench::reports {
namespace {

namespace fs = std::filesystem;
using test::content_of;

class Mlflow : public test::SampleStore {
 protected:
  test::ScratchDirectory scratch_;
  fs::path root_ = scratch_.path() / "mlruns";
};

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

TEST_F(Mlflow, HasTheLayoutOfAFileStore) {
  const MlflowRun run = export_mlflow(store(), ids()[1], root_);
  EXPECT_EQ(run.directory, root_ / run.experiment_id / run.run_uuid);
  EXPECT_EQ(run.run_uuid.size(), 32u);
  EXPECT_EQ(names_in(root_), std::set<std::string>{run.experiment_id});
  EXPECT_EQ(names_in(run.directory),
            (std::set<std::string>{"artifacts", "meta.yaml", "metrics", "params", "tags"}));
  EXPECT_NE(content_of(root_ / run.experiment_id / "meta.yaml").find("name: \"ddbench\""), std::string::npos);
  const std::string meta = content_of(run.directory / "meta.yaml");
  EXPECT_NE(meta.find("run_id: \"" + run.run_uuid + "\""), std::string::npos);
  EXPECT_NE(meta.find("status: 3"), std::string::npos);
  EXPECT_EQ(content_of(run.directory / "params" / "gpus_per_node"), "2");
  EXPECT_EQ(content_of(run.directory / "tags" / "ddbench.run_id"), ids()[1]);
}

TEST_F(Mlflow, MetricsHaveALineForEachStep) {
  const MlflowRun run = export_mlflow(store(), ids()[1], root_);
  std::istringstream lines(content_of(run.directory / "metrics" / "step_time_ms"));
  int steps = 0;
  std::int64_t last_ms = 0;
  for (std::string line; std::getline(lines, line); ++steps) {
    std::istringstream fields(line);
    std::int64_t time_ms = 0;
    double value = 0;
    int step = -1;
    fields >> time_ms >> value >> step;
    EXPECT_EQ(step, steps);
    EXPECT_GE(time_ms, last_ms);
    EXPECT_GT(value, 15);
    EXPECT_LT(value, 40);
    last_ms = time_ms;
  }
  EXPECT_EQ(steps, 25);
  EXPECT_TRUE(fs::exists(run.directory / "metrics" / "efficiency"));
  EXPECT_NE(content_of(run.directory / "metrics" / "learning_rate").find(" 0.05 1\n"), std::string::npos);
}

TEST_F(Mlflow, ExportingAgainReplacesTheRunAndAddsNoExperiment) {
  const MlflowRun first = export_mlflow(store(), ids()[1], root_);
  std::ofstream(first.directory / "params" / "stale") << "x";
  const MlflowRun again = export_mlflow(store(), ids()[1], root_);
  EXPECT_EQ(first.directory, again.directory);
  EXPECT_FALSE(fs::exists(first.directory / "params" / "stale"));
  export_mlflow(store(), ids()[2], root_);
  EXPECT_EQ(names_in(root_).size(), 1u);
  EXPECT_EQ(names_in(root_ / first.experiment_id).size(), 3u) << "two runs and meta.yaml, nothing temporary";
}

TEST_F(Mlflow, WhatDdbenchDidNotExportIsNotReplaced) {
  const MlflowRun run = export_mlflow(store(), ids()[1], root_);
  const auto refused = [&](const char* why) {
    EXPECT_ERROR(ErrorCode::kBadInput, why, export_mlflow(store(), ids()[1], root_));
    EXPECT_EQ(names_in(root_ / run.experiment_id).size(), 2u) << "something temporary is left";
  };
  std::ofstream(run.directory / "artifacts" / "weights.bin") << "x";
  refused("ddbench did not write artifacts/weights.bin in it");
  EXPECT_TRUE(fs::exists(run.directory / "artifacts" / "weights.bin"));
  fs::remove(run.directory / "artifacts" / "weights.bin");
  std::ofstream(run.directory / "tags" / "ddbench.run_id") << "another";
  refused("ddbench did not export it");
  EXPECT_EQ(content_of(run.directory / "tags" / "ddbench.run_id"), "another");
}

TEST_F(Mlflow, JoinsAnExperimentThatIsThere) {
  fs::create_directories(root_ / "42");
  std::ofstream(root_ / "42" / "meta.yaml")
      << "artifact_location: file:///x\nexperiment_id: '42'\nlifecycle_stage: active\nname: ddbench\n";
  EXPECT_EQ(export_mlflow(store(), ids()[1], root_).experiment_id, "42");
}

TEST_F(Mlflow, FailedAndInvalidRunsSaySo) {
  const MlflowRun invalid = export_mlflow(store(), ids()[2], root_);
  EXPECT_NE(content_of(invalid.directory / "meta.yaml").find("status: 4"), std::string::npos);
  EXPECT_EQ(content_of(invalid.directory / "tags" / "ddbench.valid").rfind("false: replicas differ", 0), 0u);
  const MlflowRun failed = export_mlflow(store(), ids()[3], root_);
  EXPECT_NE(content_of(failed.directory / "tags" / "ddbench.reason").find("signal 9"), std::string::npos);
}

TEST_F(Mlflow, LeavesNothingBehindWhenItCannotWrite) {
  std::ofstream(scratch_.path() / "file") << "x";
  EXPECT_THROW(export_mlflow(store(), ids()[1], scratch_.path() / "file"), Error);
  EXPECT_THROW(export_mlflow(store(), "nosuch", root_), Error);
  EXPECT_FALSE(fs::exists(root_));
}

TEST(CaseParams, OfAProgramHasNoDefaultsOfTheEngine) {
  RunCase run_case;
  EXPECT_EQ(mlflow::case_params(run_case).at("momentum"), "0.9");
  EXPECT_EQ(mlflow::case_params(run_case).at("global_batch"), "64");
  set_program(run_case, {"./train"});
  const auto params = mlflow::case_params(run_case);
  for (const char* name : {"lr", "momentum", "batch_per_gpu", "global_batch", "bucket_bytes", "seed", "steps"})
    EXPECT_FALSE(params.contains(name)) << name;
  EXPECT_EQ(params.at("world_size"), "1");
  state_batch(run_case, 32);
  EXPECT_EQ(mlflow::case_params(run_case).at("global_batch"), "32");
}

TEST(SafeKey, IsOneFileNameForAnyText) {
  std::set<std::string> keys;
  for (const std::string& name : test::hostile_names()) {
    const std::string key = mlflow::safe_key(name);
    EXPECT_FALSE(key.empty());
    EXPECT_LT(key.size(), 200u);
    EXPECT_EQ(key.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."),
              std::string::npos)
        << key;
    EXPECT_NE(key.front(), '.');
    EXPECT_TRUE(keys.insert(key).second) << "two keys became " << key;
  }
  EXPECT_EQ(mlflow::safe_key("workload_options.hidden"), "workload_options.hidden");
}

}  // namespace
}  // namespace ddbench::reports
