#include "core/nccl_event.h"

#include <gtest/gtest.h>

#include <set>

namespace ddbench {
namespace {

TEST(NcclKernelFunction, KnowsTheSpellingsOfManyVersions) {
  EXPECT_EQ(nccl_kernel_function("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
            "all_reduce");
  EXPECT_EQ(
      nccl_kernel_function("_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE"),
      "all_reduce");
  EXPECT_EQ(nccl_kernel_function("ncclKernel_ReduceScatter_RING_LL_Sum_half(ncclDevComm*, unsigned long)"),
            "reduce_scatter");
  EXPECT_EQ(nccl_kernel_function("ncclAllReduceRingLLKernel_sum_f32(ncclColl)"), "all_reduce");
  EXPECT_EQ(nccl_kernel_function("ncclSymkDevKernel_AllGather_LL(ncclSymkDevWorkArgs)"), "all_gather");
  EXPECT_EQ(nccl_kernel_function("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"), "send_recv");
  EXPECT_EQ(nccl_kernel_function("ncclDevKernel_Reduce_Sum_u8_RING_LL"), "reduce");
  EXPECT_EQ(nccl_kernel_function("ncclDevKernel_Generic_1"), "generic");
}

TEST(NcclKernelFunction, AnUnknownOneIsNcclsAllTheSame) {
  EXPECT_EQ(nccl_kernel_function("ncclDevKernel_Frobnicate_Sum"), "");
  EXPECT_EQ(nccl_kernel_function("sgemm_128x128_nt"), std::nullopt);
  EXPECT_EQ(nccl_kernel_function("my_nccl_copy"), std::nullopt);
  EXPECT_EQ(nccl_kernel_function(""), std::nullopt);
  EXPECT_EQ(nccl_kernel_function("_Z"), std::nullopt);
}

TEST(NcclEvent, ComesBackFromItsName) {
  const NcclEvent event{"all_reduce", "NVLS_TREE", "SIMPLE", 24, "infiniband"};
  EXPECT_EQ(nccl_event_name(event), "nccl/all_reduce/NVLS_TREE/SIMPLE/24/infiniband");
  EXPECT_EQ(parse_nccl_event(nccl_event_name(event)), event);
  EXPECT_EQ(parse_nccl_event(nccl_event_name(NcclEvent{})), NcclEvent{});
  EXPECT_EQ(nccl_event_name({"all_reduce", "A/B", "/", 1, ""}), "nccl/all_reduce/A_B/_/1/");
  for (const char* const other :
       {"all_reduce", "nccl/", "nccl/a/b/c/x/d", "nccl/a/b/c/1", "nccl/a/b/c/1/d/e"}) {
    EXPECT_EQ(parse_nccl_event(other), std::nullopt) << other;
  }
}

TEST(NcclSequence, DiffersByFunctionAndCall) {
  std::set<std::uint64_t> keys;
  for (int function = 1; function <= 12; ++function) {
    for (std::uint64_t sequence : {0ull, 1ull, 70'000ull, 5'000'000'000ull}) {
      keys.insert(nccl_sequence(function, sequence));
    }
  }
  EXPECT_EQ(keys.size(), 12u * 4);
  for (const std::uint64_t key : keys) EXPECT_LT(key, std::uint64_t{1} << 48);
}

}  // namespace
}  // namespace ddbench
