// What the processes of a program report of their data and their GPU, as names.
#include <gtest/gtest.h>

#include "core/program/loader_epoch.h"
#include "core/program/rank_gpu.h"

namespace ddbench {
namespace {

TEST(LoaderEpoch, ComesBackFromItsName) {
  const LoaderEpoch whole{1, 60000, LoaderEpoch::Order::kDistributed, 64, "0123456789abcdef", {"-", "fedcba9876543210"}, 2, true};
  EXPECT_EQ(loader_epoch_name(whole), "loader: 1 60000 distributed 64 0123456789abcdef 2 whole -,fedcba9876543210");
  const LoaderEpoch without{0, -1, LoaderEpoch::Order::kNotKnown, 0, "", {}};
  EXPECT_EQ(loader_epoch_name(without), "loader: 0 -1 - 0 - -1 part ");
  for (const LoaderEpoch& epoch : {whole, without}) EXPECT_EQ(parse_loader_epoch(loader_epoch_name(epoch)), epoch);
}

TEST(LoaderEpoch, OtherNamesAreNone) {
  for (const char* name : {"", "loader: ", "aten::add", "loader: 0 1 shuffled 8", "loader: -1 1 fixed 8 0123456789abcdef 0 whole -",
                           "loader: 99999999 1 fixed 8 0123456789abcdef 0 whole -", "loader: 0 -2 fixed 8 0123456789abcdef 0 whole -",
                           "loader: 0 1 sorted 8 0123456789abcdef 0 whole -", "loader: 0 1 fixed 8 0123456789ABCDEF 0 whole -", "loader: 0 1 fixed 8 short 0 whole -",
                           "loader: 0 1 fixed 8 0123456789abcdef 0 whole x", "loader: 0 1 fixed 8 0123456789abcdef 0 whole -,-,-,-,-,-,-,-,-,-,-,-,-,-,-,-,-",
                           "loader: 0 1 fixed 8 0123456789abcdef -2 whole -",
                           "loader: 0 1 fixed 8 0123456789abcdef 0 half -", "loader: 0 1 fixed 8 0123456789abcdef -", "loader: nan 1 fixed 8 0123456789abcdef 0 whole -"})
    EXPECT_FALSE(parse_loader_epoch(name)) << name;
}

TEST(RankGpu, ComesBackFromItsName) {
  const RankGpu gpu{"0123456789abcdef0123456789abcdef", "0000:17:00.0"};
  EXPECT_EQ(parse_rank_gpu(rank_gpu_name(gpu)), gpu);
  EXPECT_EQ(parse_rank_gpu(rank_gpu_name({gpu.uuid, ""})), (RankGpu{gpu.uuid, ""}));
  for (const char* name : {"gpu: ", "gpu: 0123 0000:17:00.0", "gpu: 0123456789abcdef0123456789abcdef", "gpu: 0123456789abcdef0123456789abcdef ; rm",
                           "gpu: 0123456789abcdef0123456789abcdef 0000:17:00.0.0000:17:00.0"})
    EXPECT_FALSE(parse_rank_gpu(name)) << name;
}

}  // namespace
}  // namespace ddbench
