// What `ddbench fit` predicts against what the allocator gave out, and training that keeps less.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/error.h"
#include "harness/model/architectures/registry.h"
#include "harness/training/footprint.h"
#include "probes/recorder/spool.h"
#include "bfloat16.h"
#include "expect_error.h"
#include "trained_ranks.h"

namespace ddbench::ddp {
namespace {

using device::MemoryUse;

RunCase transformer_case(int world) {
  RunCase run_case;
  run_case.work = ReferenceWorkload{"gpt2-nano", {{"layers", "3"}, {"hidden", "32"}, {"heads", "2"}, {"sequence", "16"}}};
  run_case.gpus_per_node = world;
  run_case.batch_per_gpu = 4;
  run_case.warmup = 0;
  run_case.steps = 4;
  run_case.first_bucket_bytes = 20'000;
  run_case.bucket_bytes = 60'000;
  return run_case;
}

struct Trained {
  Curve curve;
  std::vector<device::MemoryByUse> memory;  ///< by rank
  std::map<std::string, double> scalars;    ///< of rank 0, the last ones
};

Trained train_measured(const RunCase& run_case) {
  const test::TemporaryDirectory directory;
  Trained trained{mean_curve(train_ranks(run_case, directory.path())), {}, {}};
  for (int rank = 0; rank < run_case.world_size(); ++rank) {
    std::map<std::string, double> last;
    const host::SpoolBatch batch = host::SpoolReader(directory.path() / fmt::format("{}.spool", rank)).read();
    for (const host::Scalar& scalar : batch.scalars) last[batch.new_names.at(scalar.name_id)] = scalar.value;
    device::MemoryByUse& memory = trained.memory.emplace_back();
    for (std::size_t use = 0; use < device::kMemoryUses; ++use)
      memory.bytes[use] = static_cast<std::int64_t>(last[fmt::format("memory.{}_bytes", device::kMemoryUseNames[use])]);
    EXPECT_EQ(static_cast<std::int64_t>(last["memory.device_peak_bytes"]), memory.total());
    if (rank == 0) trained.scalars = std::move(last);
  }
  return trained;
}

/// Workspace is the operators', and kOther some numbers.
void expect_predicted(const Trained& trained, const RunCase& run_case) {
  for (int rank = 0; rank < run_case.world_size(); ++rank) {
    device::MemoryByUse measured = trained.memory[static_cast<std::size_t>(rank)];
    EXPECT_LT(measured[MemoryUse::kOther], 64);
    measured[MemoryUse::kWorkspace] = measured[MemoryUse::kOther] = 0;
    const device::MemoryByUse predicted = footprint(run_case, rank);
    for (std::size_t use = 0; use < device::kMemoryUses; ++use) {
      EXPECT_EQ(predicted.bytes[use], measured.bytes[use])
          << run_case.strategy << ", rank " << rank << ", " << device::kMemoryUseNames[use];
    }
  }
}

class Footprint : public testing::TestWithParam<std::string> {};

TEST_P(Footprint, IsWhatTheAllocatorGaveOut) {
  RunCase run_case = transformer_case(3);
  run_case.strategy = GetParam();
  run_case.accumulate = 2;
  run_case.optimizer = "adamw";
  if (run_case.strategy == "ddp") run_case.strategy_options = {{"hook", "bf16"}};
  if (run_case.strategy == "ps") run_case.strategy_options = {{"servers", "2"}};
  expect_predicted(train_measured(run_case), run_case);
}

INSTANTIATE_TEST_SUITE_P(OfEach, Footprint, testing::Values("ddp", "zero1", "zero2", "zero3", "horovod", "mirrored", "ps"),
                         [](const auto& instance) { return instance.param; });

TEST(Zero3, TrainsBitForBitAsZero2AndKeepsAShareOfAll) {
  for (const std::string precision : {"fp32", "bf16"}) {
    if (precision == "bf16" && !test::computes_bfloat16(*device::make_device("cpu"))) GTEST_SKIP() << "bf16: this CPU lacks AVX512";
    RunCase run_case = transformer_case(3);
    run_case.work = ReferenceWorkload{"gpt2-nano", {{"layers", "12"}, {"hidden", "32"}, {"heads", "2"}, {"sequence", "16"},
                                                    {"recompute", "blocks"}}};
    run_case.accumulate = 2;
    run_case.precision = precision;
    run_case.strategy = "zero2";
    const Trained zero2 = train_measured(run_case);
    run_case.strategy = "zero3";
    for (const char* overlap : {"on", "off"}) {
      if (overlap == std::string("off") && precision == "bf16") continue;
      run_case.strategy_options = {{"overlap", overlap}};
      const Trained zero3 = train_measured(run_case);
      EXPECT_EQ(zero3.curve.losses, zero2.curve.losses) << precision << ", overlap " << overlap;
      EXPECT_EQ(zero3.curve.hash, zero2.curve.hash);
      EXPECT_LT(4 * zero3.memory[0][MemoryUse::kParameters], 3 * zero2.memory[0][MemoryUse::kParameters]);
      EXPECT_LT(10 * zero3.memory[0][MemoryUse::kGradients], 9 * zero2.memory[0][MemoryUse::kGradients]);
      expect_predicted(zero3, run_case);
    }
  }
}

TEST(Offload, TrainsBitForBitWithoutTheStateOnTheDevice) {
  for (const std::string strategy : {"ddp", "zero1", "zero2", "zero3"}) {
    RunCase run_case = transformer_case(2);
    run_case.optimizer = "adamw";
    run_case.strategy = strategy;
    const Trained plain = train_measured(run_case);
    run_case.strategy_options = {{"offload", "optimizer"}};
    const Trained offloaded = train_measured(run_case);
    EXPECT_EQ(offloaded.curve.losses, plain.curve.losses) << strategy;
    EXPECT_EQ(offloaded.curve.hash, plain.curve.hash) << strategy;
    EXPECT_EQ(offloaded.memory[0][MemoryUse::kOptimizer], 0);
    expect_predicted(offloaded, run_case);
    EXPECT_EQ(static_cast<std::int64_t>(offloaded.scalars.at("memory.offloaded_bytes")), offloaded_footprint(run_case));
    EXPECT_EQ(offloaded_footprint(run_case), 2 * plain.memory[0][MemoryUse::kOptimizer]) << "adamw: two states, values and gradients";
  }
}

TEST(Offload, IsAWayToFitAGpu) {
  RunCase run_case = transformer_case(2);
  run_case.device = "cuda";
  run_case.optimizer = "adamw";
  const std::int64_t needed = largest_footprint(run_case).total();
  const std::vector<std::string> ways = ways_to_fit(run_case, needed - 1);
  EXPECT_NE(std::find_if(ways.begin(), ways.end(), [](const std::string& way) { return way.starts_with("-S offload=optimizer ("); }), ways.end());
  run_case.strategy_options = {{"offload", "disk"}};
  EXPECT_ERROR(ErrorCode::kBadInput, "offload is \"disk\", but it must be none or optimizer", largest_footprint(run_case));
}

TEST(Recompute, GivesTheSameTrainingInLessMemory) {
  RunCase run_case = transformer_case(2);
  const Trained plain = train_measured(run_case);
  std::get<ReferenceWorkload>(run_case.work).options["recompute"] = "blocks";
  const Trained recomputed = train_measured(run_case);
  EXPECT_EQ(recomputed.curve.hash, plain.curve.hash);
  EXPECT_EQ(recomputed.curve.losses, plain.curve.losses) << "the same arithmetic: the same bits";
  EXPECT_LT(recomputed.memory[0][MemoryUse::kActivations], 0.6 * plain.memory[0][MemoryUse::kActivations]);
  expect_predicted(recomputed, run_case);
}

TEST(Recompute, GivesTheSameTrainingOfImages) {
  RunCase run_case = transformer_case(1);
  run_case.work = ReferenceWorkload{"resnet18", {{"image", "32"}, {"width", "4"}}};
  run_case.steps = 2;
  const Trained plain = train_measured(run_case);
  std::get<ReferenceWorkload>(run_case.work).options["recompute"] = "blocks";
  const Trained recomputed = train_measured(run_case);
  EXPECT_EQ(recomputed.curve.hash, plain.curve.hash);
  EXPECT_EQ(recomputed.curve.losses, plain.curve.losses);
  EXPECT_LT(recomputed.memory[0][MemoryUse::kActivations], plain.memory[0][MemoryUse::kActivations]);
}

TEST(Fit, NamesTheLargestBatchAndWhatWouldFit) {
  RunCase run_case = transformer_case(4);
  run_case.batch_per_gpu = 64;
  const std::int64_t needed = largest_footprint(run_case).total();
  EXPECT_TRUE(ways_to_fit(run_case, 1000).empty());
  const std::int64_t batch = largest_batch(run_case, needed / 2);
  EXPECT_GT(batch, 8);
  EXPECT_LT(batch, 64);
  run_case.batch_per_gpu = batch;
  EXPECT_LE(largest_footprint(run_case).total(), needed / 2);
  run_case.batch_per_gpu = batch + 1;
  EXPECT_GT(largest_footprint(run_case).total(), needed / 2);
  run_case.batch_per_gpu = 64;
  const std::vector<std::string> ways = ways_to_fit(run_case, needed / 2);
  ASSERT_GE(ways.size(), 3u);
  EXPECT_TRUE(ways.front().starts_with("--accumulate 4 ("));
  EXPECT_TRUE(ways.back().starts_with(fmt::format("--batch-per-gpu {} (", batch)));
}

}  // namespace
}  // namespace ddbench::ddp
