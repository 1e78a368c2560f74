#include "harness/collective/nccl/nccl_settings.h"

#include <gtest/gtest.h>

namespace ddbench::collective::nccl_backend {
namespace {

TEST(NcclSettings, PlacesSurviveTheRendezvous) {
  const RankPlace place = RankPlace::parse(RankPlace{"host/boot", "10.77.0.1", "0123abcd"}.text());
  EXPECT_EQ(place.host, "host/boot");
  EXPECT_EQ(place.address, "10.77.0.1");
  EXPECT_EQ(place.gpu, "0123abcd");
}

TEST(NcclSettings, HostsAreLeftToNcclWhereItIsRight) {
  EXPECT_EQ(host_id({{"a", "127.0.0.1", "g0"}, {"a", "127.0.0.1", "g1"}}, 1), "");
  EXPECT_EQ(host_id({{"a", "10.0.0.1", "g0"}, {"b", "10.0.0.2", "g1"}}, 0), "") << "two machines";
}

TEST(NcclSettings, RanksThatShareAGpuAreHostsOfTheirOwn) {
  const std::vector<RankPlace> places{{"a", "127.0.0.1", "g0"}, {"a", "127.0.0.1", "g0"}};
  EXPECT_EQ(host_id(places, 0), "a-rank-0");
  EXPECT_EQ(host_id(places, 1), "a-rank-1");
}

TEST(NcclSettings, NodesOfOneMachineAreHosts) {
  const std::vector<RankPlace> places{
      {"a", "10.77.0.1", "g0"}, {"a", "10.77.0.1", "g1"}, {"a", "10.77.0.2", "g2"}};
  EXPECT_EQ(host_id(places, 0), host_id(places, 1));
  EXPECT_NE(host_id(places, 0), host_id(places, 2));
  EXPECT_FALSE(host_id(places, 0).empty());
}

}  // namespace
}  // namespace ddbench::collective::nccl_backend
