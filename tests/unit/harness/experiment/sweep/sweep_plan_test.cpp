#include "harness/experiment/sweep/sweep_plan.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "core/error.h"

namespace ddbench::experiment {
namespace {

std::vector<std::pair<int, int>> worlds(const std::vector<SweepCell>& cells) {
  std::vector<std::pair<int, int>> result;
  for (const SweepCell& cell : cells) result.emplace_back(cell.run_case.nodes, cell.run_case.gpus_per_node);
  return result;
}

TEST(SweepCells, EveryCombinationOnceSmallWorldsFirst) {
  SweepAxes axes;
  axes.nodes = {4, 1, 2};
  axes.gpus_per_node = {1, 2, 1};
  EXPECT_EQ(worlds(sweep_cells(RunCase{}, axes)),
            (std::vector<std::pair<int, int>>{{1, 1}, {1, 2}, {2, 1}, {4, 1}, {2, 2}, {4, 2}}));
}

TEST(SweepCells, RepetitionsAreOutermost) {
  SweepAxes axes;
  axes.nodes = {1, 2};
  axes.repeat = 2;
  const auto cells = sweep_cells(RunCase{}, axes);
  ASSERT_EQ(cells.size(), 4u);
  EXPECT_EQ(cells[1].repetition, 0);
  EXPECT_EQ(cells[2].repetition, 1);
  EXPECT_EQ(cells[2].run_case.nodes, 1);
}

TEST(SweepCells, LinksDoNotMultiplyWorldsWithoutOne) {
  SweepAxes axes;
  axes.nodes = {1, 2};
  axes.others = {{"link", {"1gbit", "100mbit"}}, {"requested_network", {"ethernet"}}};
  EXPECT_EQ(sweep_cells(RunCase{}, axes).size(), 3u);
}

TEST(SweepCells, OptionsOfTheStrategyAndBucketsAreVaried) {
  RunCase run_case;
  run_case.strategy_options = {{"overlap", "off"}};
  SweepAxes axes;
  axes.others = {{"bucket_bytes", {"1048576", "5242880"}}, {"strategy_options.hook", {"none", "fp16"}}, {"prefetch", {"4"}}};
  const auto cells = sweep_cells(run_case, axes);
  ASSERT_EQ(cells.size(), 4u);
  EXPECT_EQ(cells[1].run_case.bucket_bytes, 1048576);
  EXPECT_EQ(cells[1].run_case.prefetch, 4);
  EXPECT_EQ(cells[1].run_case.strategy_options,
            (std::map<std::string, std::string>{{"hook", "fp16"}, {"overlap", "off"}}));
}

TEST(SweepCells, StrongScalingDividesTheGlobalBatch) {
  RunCase run_case;
  run_case.scaling = ScalingMode::kStrong;
  run_case.batch_per_gpu = 96;
  SweepAxes axes;
  axes.nodes = {1, 2, 3};
  for (const SweepCell& cell : sweep_cells(run_case, axes)) EXPECT_EQ(cell.run_case.global_batch(), 96);
  axes.nodes = {5};
  EXPECT_THROW(sweep_cells(run_case, axes), Error);
}

TEST(SweepCells, SeveralGlobalBatchesAreDividedByEachWorld) {
  RunCase run_case;
  run_case.scaling = ScalingMode::kStrong;
  SweepAxes axes;
  axes.gpus_per_node = {1, 4};
  axes.batch = {64, 128};
  const auto cells = sweep_cells(run_case, axes);
  ASSERT_EQ(cells.size(), 4u);
  EXPECT_EQ(cells[2].run_case.batch_per_gpu, 16);
  EXPECT_EQ(cells[3].run_case.global_batch(), 128);
}

TEST(SweepCells, AGlobalBatchIsThatOfAllRanksHoweverManyOthersHaveStarted) {
  RunCase run_case;
  run_case.scaling = ScalingMode::kStrong;
  run_case.gpus_per_node = 2;  // as --launcher env sets it
  SweepAxes axes;
  axes.gpus_per_node = {1, 2};
  axes.batch = {64};
  const auto cells = sweep_cells(run_case, axes);
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0].run_case.batch_per_gpu, 64);
  EXPECT_EQ(cells[1].run_case.batch_per_gpu, 32);
  axes.batch = {63};
  EXPECT_THROW(sweep_cells(run_case, axes), Error);
  axes.batch.clear();
  run_case.batch_per_gpu = 16;
  EXPECT_EQ(sweep_cells(run_case, axes)[0].run_case.batch_per_gpu, 32) << "that of the case";
}

TEST(SweepCells, FieldsAreVariedByName) {
  SweepAxes axes;
  axes.others = {{"optimizer", {"sgd", "lars"}}, {"lr", {"0.1", "1e-2"}}, {"accumulate", {"1", "2"}}};
  const auto cells = sweep_cells(RunCase{}, axes);
  ASSERT_EQ(cells.size(), 8u);
  EXPECT_EQ(cells[0].run_case.optimizer, "sgd");
  EXPECT_EQ(cells[7].run_case.optimizer, "lars");
  EXPECT_DOUBLE_EQ(cells[7].run_case.lr, 0.01);
  EXPECT_EQ(cells[7].run_case.accumulate, 2);
}

TEST(SweepCells, EveryFieldCanBeSet) {
  for (const std::string& field : sweep_fields()) {
    SweepAxes axes;
    axes.others = {{field, {"no such value"}}};
    // Texts are taken as they are, numbers are not: either way the field exists.
    try {
      sweep_cells(RunCase{}, axes);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadInput);
      EXPECT_EQ(error.message().find("cannot vary"), std::string::npos) << error.message();
    }
  }
}

TEST(SweepCells, RefuseFieldsAndValuesThatAreNone) {
  const auto complaint = [](const SweepAxis& axis) -> std::string {
    SweepAxes axes;
    axes.others = {axis};
    try {
      sweep_cells(RunCase{}, axes);
    } catch (const Error& error) {
      return error.message();
    }
    return "";
  };
  EXPECT_NE(complaint({"colour", {"red"}}).find("colour"), std::string::npos);
  EXPECT_NE(complaint({"accumulate", {"1.5"}}).find("1.5"), std::string::npos);
  EXPECT_NE(complaint({"lr", {"fast"}}).find("fast"), std::string::npos);
  EXPECT_NE(complaint({"requested_network", {"wifi"}, "--network"}).find("--network"), std::string::npos);
  EXPECT_NE(complaint({"lr", {"-1"}}).find("positive"), std::string::npos);
}

class StoredSweep : public testing::Test {
 protected:
  void SetUp() override {
    axes_.nodes = {1, 2};
    cells_ = sweep_cells(RunCase{}, axes_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void store_run(const std::string& sweep_id, const SweepCell& cell, store::RunState state) {
    store::RunRecord run;
    run.id = store::new_run_id();
    run.run_case = cell.run_case;
    run.repetition = cell.repetition;
    run.sweep_id = sweep_id;
    run.state = state;
    store_.create_run(run);
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("sweep_plan_test." + std::to_string(::getpid()));
  store::RunStore store_ = store::RunStore::open(folder_ / "results.db", store::OpenMode::kReadWrite);
  SweepAxes axes_;
  std::vector<SweepCell> cells_;
};

TEST_F(StoredSweep, IsFoundAgainUntilItIsComplete) {
  EXPECT_EQ(unfinished_sweep(store_, cells_), "");
  const std::string id = new_sweep_id(cells_);
  store_run(id, cells_[0], store::RunState::kDone);
  store_run(id, cells_[1], store::RunState::kFailed);
  EXPECT_EQ(unfinished_sweep(store_, cells_), id);
  EXPECT_EQ(worlds(missing_cells(store_, id, cells_)), (std::vector<std::pair<int, int>>{{2, 1}}));
  store_run(id, cells_[1], store::RunState::kDone);
  EXPECT_EQ(unfinished_sweep(store_, cells_), "");
}

TEST_F(StoredSweep, IsResumedWhetherOrNotTheMachineSaysItsSku) {
  const std::string id = new_sweep_id(cells_);
  SweepCell on_a_sku = cells_[0];
  on_a_sku.run_case.sku = "Standard_ND96asr_v4";
  store_run(id, on_a_sku, store::RunState::kDone);
  EXPECT_EQ(unfinished_sweep(store_, cells_), id);
  EXPECT_EQ(worlds(missing_cells(store_, id, cells_)), (std::vector<std::pair<int, int>>{{2, 1}}));
  SweepCell other = cells_[0];
  other.run_case.sku = "Standard_NC24rs_v3";
  EXPECT_EQ(unfinished_sweep(store_, {other, cells_[1]}), "") << "a SKU that was named makes another sweep";
}

TEST_F(StoredSweep, ADifferentSweepIsNotContinued) {
  store_run(new_sweep_id(cells_), cells_[0], store::RunState::kDone);
  SweepAxes wider = axes_;
  wider.nodes = {1, 2, 4};
  EXPECT_EQ(unfinished_sweep(store_, sweep_cells(RunCase{}, wider)), "");
  EXPECT_NE(new_sweep_id(cells_), new_sweep_id(cells_));
}

}  // namespace
}  // namespace ddbench::experiment
