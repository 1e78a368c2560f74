#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "analyzer/diagnose/diagnose_run.h"
#include "analyzer/import/table/table.h"
#include "analyzer/run/run_summary.h"
#include "analyzer/scaling/scaling.h"
#include "analyzer/scaling/scaling_curve.h"
#include "analyzer/store/maintenance/maintenance.h"
#include "analyzer/store/rows/run_store.h"
#include "expect_error.h"
#include "temporary_directory.h"

namespace ddbench::imports {
namespace {

namespace fs = std::filesystem;

ImportResult import(const fs::path& db, const std::string& text) {
  return import_runs(
      db, [&](const TakeRun& take) { read_table(text, "t.csv", {}, take); }, text, "t.csv");
}

TEST(ImportRuns, AreStoredAsOneSweepWithRepetitions) {
  const test::TemporaryDirectory directory;
  const ImportResult result = import(directory / "a.db", "gpus,throughput\n1,100\n1,102\n2,190\n");
  EXPECT_EQ(result.added.size(), 3u);
  EXPECT_FALSE(result.already_there);
  const auto store = store::RunStore::open(directory / "a.db", store::OpenMode::kReadOnly);
  const auto runs = store.runs({.sweep_id = result.sweep_id});
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[2].repetition, 0);
  EXPECT_EQ(runs[1].repetition, 1);
  EXPECT_EQ(runs[0].repetition, 0);
  EXPECT_EQ(runs[0].environment.facts.at("import.file"), "t.csv");
  const analyzer::RunSummary summary = analyzer::summarize(store, result.added[2]);
  ASSERT_TRUE(summary.samples_per_s) << summary.samples_per_s.reason();
  EXPECT_NEAR(*summary.samples_per_s, 190, 1e-5);
  EXPECT_TRUE(store::check_store(directory / "a.db").problems.empty());
}

/// The summary of the last row.
analyzer::RunSummary summary_of(const std::string& text) {
  const test::TemporaryDirectory directory;
  const ImportResult result = import(directory / "a.db", text);
  return analyzer::summarize(store::RunStore::open(directory / "a.db", store::OpenMode::kReadOnly), result.added.back());
}

TEST(ImportRuns, AThroughputWithoutABatchHasNoStep) {
  const analyzer::RunSummary summary = summary_of("gpus,nodes,workload,sku,throughput\n32,4,resnet50,h100,18000\n");
  EXPECT_NEAR(*summary.samples_per_s, 18000, 0.01);
  EXPECT_EQ(*summary.work_per_s, *summary.samples_per_s);
  const std::string reason = "the imported source states a throughput and no batch in its unit: how long a step takes is not known (gate and history: --metric throughput)";
  EXPECT_EQ(summary.step_time_ns.reason(), reason);
  EXPECT_EQ(summary.samples_per_step.reason(), "the imported source states no batch in the unit of its throughput");
  EXPECT_EQ(summary.distribution.reason(), analyzer::kOneMean);
  EXPECT_EQ(summary.probe_overhead_percent.reason(), "ddbench did not record this run");
  for (const std::string& note : summary.notes) EXPECT_FALSE(note.starts_with("few steps")) << note;
}

TEST(ImportRuns, AStepTimeWithoutABatchHasNoSamples) {
  const analyzer::RunSummary summary = summary_of("gpus,step_time_ms\n8,2.5\n");
  EXPECT_DOUBLE_EQ(summary.step_time_ns->value, 2.5e6);
  EXPECT_EQ(summary.step_time_ns->interval.reason(), analyzer::kOneMean);
  EXPECT_FALSE(summary.samples_per_s);
  EXPECT_DOUBLE_EQ(*summary.work_per_s, 8 / 2.5e-3) << "steps of all ranks: as for a program, sizes can be compared";
}

TEST(ImportRuns, OneMeanHasNoDistributionAndABatchHasAStep) {
  const analyzer::RunSummary summary = summary_of("gpus,batch_per_gpu,throughput\n8,32,2560\n");
  EXPECT_DOUBLE_EQ(summary.step_time_ns->value, 1e8);
  EXPECT_DOUBLE_EQ(*summary.samples_per_s, 2560);
  EXPECT_EQ(summary.distribution.reason(), analyzer::kOneMean);
}

TEST(ImportRuns, ScalingOfThroughputsWithoutABatchIsThatOfTheThroughputs) {
  const test::TemporaryDirectory directory;
  const ImportResult result = import(directory / "a.db", "gpus,nodes,throughput\n8,1,4500\n16,2,8800\n");
  const auto store = store::RunStore::open(directory / "a.db", store::OpenMode::kReadOnly);
  const analyzer::ScalingTable table = analyzer::scaling_table(store, result.sweep_id);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_NEAR(*table.rows[1].efficiency, 8800 / 9000.0, 1e-6);
  EXPECT_NEAR(*table.rows[1].samples_per_s, 8800, 0.01);
  EXPECT_FALSE(table.rows[1].step_time_ns);
  const auto curve = analyzer::scaling_curve(store, store.runs({.sweep_id = result.sweep_id}));
  EXPECT_NEAR(curve.rows[1].efficiency, 8800 / 9000.0, 1e-6);
  EXPECT_FALSE(curve.rows[1].step_time_ns);
}

TEST(ImportRuns, ADiagnosisSaysThatNoRankWasRecorded) {
  const test::TemporaryDirectory directory;
  const ImportResult result = import(directory / "a.db", "gpus,throughput\n8,100\n1,20\n");
  const auto store = store::RunStore::open(directory / "a.db", store::OpenMode::kReadOnly);
  EXPECT_EQ(analyzer::diagnose_run(store, result.added[0]).reason(), "the source has figures of the whole run and none of single ranks");
  EXPECT_EQ(analyzer::diagnose_run(store, result.added[1]).reason(), "single rank: nobody waits for it");
}

TEST(ImportRuns, TheSameFileAgainChangesNothing) {
  const test::TemporaryDirectory directory;
  const std::string text = "gpus,throughput\n1,100\n2,190\n";
  const ImportResult first = import(directory / "a.db", text);
  const ImportResult second = import(directory / "a.db", text);
  EXPECT_TRUE(second.already_there);
  EXPECT_EQ(second.sweep_id, first.sweep_id);
  EXPECT_EQ(store::RunStore::open(directory / "a.db", store::OpenMode::kReadOnly).runs().size(), 2u);
  EXPECT_FALSE(import(directory / "a.db", text + "4,370\n").already_there);
}

TEST(ImportRuns, NothingIsLeftOfAFileWithAMalformedRow) {
  const test::TemporaryDirectory directory;
  EXPECT_ERROR(ErrorCode::kBadInput, "line 3",
               import(directory / "a.db", "gpus,throughput\n1,100\n2,fast\n"));
  EXPECT_FALSE(fs::exists(directory / "a.db"));
}

TEST(ImportRuns, RunsOfOneFileHaveIdsThatDiffer) {
  const test::TemporaryDirectory directory;
  std::string text = "gpus,throughput\n";
  for (int row = 0; row < 3000; ++row) text += "1," + std::to_string(100 + row) + "\n";
  std::size_t reports = 0;
  const ImportResult result = import_runs(
      directory / "a.db", [&](const TakeRun& take) { read_table(text, "t.csv", {}, take); }, text, "t.csv",
      [&](std::size_t done, std::size_t all) {
        EXPECT_EQ(done, ++reports);
        EXPECT_EQ(all, 3000u);
      });
  EXPECT_EQ(std::set(result.added.begin(), result.added.end()).size(), 3000u);
  EXPECT_TRUE(std::is_sorted(result.added.begin(), result.added.end()) ||
              result.added.front() > result.added.back())
      << "in order, but where the number runs over";
  EXPECT_EQ(reports, 3000u);
}

// Eight simultaneous imports once stored seven copies: an import must lock the store from its check to its
// write.
TEST(ImportRuns, OneFileImportedByManyAtOnceIsStoredOnce) {
  const test::TemporaryDirectory directory;
  std::string text = "gpus,throughput\n";
  for (int row = 0; row < 200; ++row) text += "1," + std::to_string(100 + row) + "\n";
  std::atomic<int> stored = 0;
  std::vector<std::thread> importers;
  for (int i = 0; i < 8; ++i)
    importers.emplace_back([&] { stored += !import(directory / "a.db", text).already_there; });
  for (std::thread& importer : importers) importer.join();
  EXPECT_EQ(stored, 1);
  EXPECT_EQ(store::RunStore::open(directory / "a.db", store::OpenMode::kReadOnly).runs().size(), 200u);
}

TEST(ImportRuns, PublishedFiguresOfPyTorchDdp) {
  const test::TemporaryDirectory directory;
  const fs::path file = fs::path(DDBENCH_FIXTURES) / "pytorch_ddp_benchmark.csv";
  const std::string text = read_file(file);
  const ImportResult result = import(directory / "a.db", text);
  EXPECT_EQ(result.added.size(), 24u);
  const auto store = store::RunStore::open(directory / "a.db", store::OpenMode::kReadOnly);
  double without_ddp = 0;
  double on_16 = 0;
  for (const store::RunRecord& run : store.runs()) {
    if (work_name(run.run_case.work) != "resnet50") continue;
    const double rate = *analyzer::summarize(store, run.id).samples_per_s / run.run_case.world_size();
    if (run.run_case.strategy == "none") without_ddp = rate;
    if (run.run_case.world_size() == 16) on_16 = rate;
  }
  EXPECT_NEAR(on_16 / without_ddp, 0.933, 0.0005);
}

TEST(ReadFile, WhatCannotBeReadIsNamed) {
  EXPECT_ERROR(ErrorCode::kBadInput, "/nowhere/t.csv", read_file("/nowhere/t.csv"));
  EXPECT_ERROR(ErrorCode::kBadInput, "/tmp", read_file("/tmp"));
}

}  // namespace
}  // namespace ddbench::imports
