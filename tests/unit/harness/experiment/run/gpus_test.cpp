#include "harness/experiment/run/gpus.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/run_case/program_case.h"
#include "expect_error.h"

namespace ddbench::experiment {
namespace {

class Gpus : public testing::Test {
 protected:
  void SetUp() override { ::unsetenv("CUDA_VISIBLE_DEVICES"); }
  void TearDown() override { ::unsetenv("CUDA_VISIBLE_DEVICES"); }

  static host::Machine machine_with(std::size_t gpus) {
    host::Machine machine;
    machine.gpus.resize(gpus);
    return machine;
  }
  static RunCase case_of(int nodes, int gpus_per_node, const char* device = "cuda") {
    RunCase run_case;
    run_case.nodes = nodes;
    run_case.gpus_per_node = gpus_per_node;
    run_case.device = device;
    return run_case;
  }
};

TEST_F(Gpus, VisibleOnesCount) {
  EXPECT_EQ(usable_gpus(machine_with(8)), 8);
  ::setenv("CUDA_VISIBLE_DEVICES", "2,5", 1);
  EXPECT_EQ(usable_gpus(machine_with(8)), 2);
  EXPECT_EQ(usable_gpus(machine_with(1)), 1) << "what is not there cannot be used, whatever is named";
  ::setenv("CUDA_VISIBLE_DEVICES", "", 1);
  EXPECT_EQ(usable_gpus(machine_with(8)), 0);
}

TEST_F(Gpus, MoreRanksThanGpusAreRefusedWithWhatToDo) {
  EXPECT_ERROR(ErrorCode::kBadInput, "16 ranks (4 x 4) need as many GPUs, and this machine has 2",
               check_gpus(case_of(4, 4), machine_with(2), false));
  EXPECT_ERROR(ErrorCode::kBadInput, "--share-gpus", check_gpus(case_of(1, 3), machine_with(2), false));
}

TEST_F(Gpus, SharingIsAllowedOnDemand) {
  EXPECT_NO_THROW(check_gpus(case_of(4, 4), machine_with(2), true));
  EXPECT_NO_THROW(check_gpus(case_of(1, 2), machine_with(2), false));
  EXPECT_NO_THROW(check_gpus(case_of(4, 4, "cpu"), machine_with(2), false));
  EXPECT_NO_THROW(check_gpus(case_of(4, 4), machine_with(0), false))
      << "check_device says that there is none";
}

TEST_F(Gpus, RanksThatShareASmallGpuAreJudgedByTheirTensors) {
  EXPECT_EQ(cuda_reserve_bytes(4'000'000'000, 1), kCudaReserveBytes);
  EXPECT_EQ(cuda_reserve_bytes(4'000'000'000, 4), 250'000'000);
  EXPECT_EQ(cuda_reserve_bytes(80'000'000'000, 2), kCudaReserveBytes);
  RunCase small = case_of(1, 4);
  small.backend = "nccl";
  small.work = ReferenceWorkload{"mlp", {{"hidden", "64"}}};
  EXPECT_NO_THROW(check_gpu_memory(small, 4'000'000'000, 4));
  std::get<ReferenceWorkload>(small.work).options["hidden"] = "16384,16384";
  EXPECT_ERROR(ErrorCode::kEnvironment, "that 4 ranks share has room for 0.8 GB", check_gpu_memory(small, 4'000'000'000, 4));
}

TEST_F(Gpus, WhoSharesThem) {
  EXPECT_TRUE(shares_gpus(case_of(1, 3), machine_with(2), true));
  EXPECT_FALSE(shares_gpus(case_of(1, 2), machine_with(2), true));
  EXPECT_FALSE(shares_gpus(case_of(1, 3, "cpu"), machine_with(2), true));
  RunCase program = case_of(1, 3, "");
  set_program(program, {"./train"});
  EXPECT_TRUE(shares_gpus(program, machine_with(2), true));
  EXPECT_FALSE(shares_gpus(program, machine_with(2), false)) << "it may run on CPUs";
}

}  // namespace
}  // namespace ddbench::experiment
