#include "nccl_settings.h"

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

TEST(NcclSettings, TransportsComeFromTheLogTheNetworkFirst) {
  EXPECT_EQ(transports_in("h:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read\n"
                          "h:1:2 [0] NCCL INFO Channel 00/0 : 1[1] -> 2[0] [send] via NET/Socket/0\n"
                          "h:1:2 [0] NCCL INFO Channel 01/0 : 1[1] -> 2[0] [send] via NET/Socket/0\n"),
            "NET/Socket/0, P2P/CUMEM/read");
  EXPECT_EQ(transports_in("h:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct\n"
                          "h:1:2 [0] NCCL INFO Channel 00/0 : 1[1] -> 2[0] [receive] via NET/IB/1/GDRDMA\n"),
            "NET/IB/1/GDRDMA, SHM/direct/direct");
  EXPECT_EQ(transports_in("nothing of it\n").rfind("unknown", 0), 0U);
}

TEST(NcclSettings, VerbsOverEthernetAreNoInfiniBand) {
  const auto over = [](const std::string& ports) {
    return transports_in("h:1:2 [0] NCCL INFO NET/IB : Using " + ports + " [RO]; OOB ib0:10.0.0.1<0>\n" +
                         "h:1:2 [0] NCCL INFO Channel 00/0 : 1[1] -> 2[0] [send] via NET/IB/0(1)\n");
  };
  EXPECT_EQ(over("[0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE"), "NET/IB/0 (RoCE)");
  EXPECT_EQ(over("[0]mlx5_0:1/IB [1]mlx5_1:1/IB"), "NET/IB/0");
  EXPECT_EQ(over("[0]mlx5_0:1/IB/SHARP [1]mlx5_1:1/RoCE"), "NET/IB/0") << "either: it is not told which";
}

}  // namespace
}  // namespace ddbench::collective::nccl_backend
