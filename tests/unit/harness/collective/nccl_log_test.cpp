#include "harness/collective/nccl_log.h"

#include <gtest/gtest.h>

namespace ddbench::collective {
namespace {

std::string transports_in(const std::string& log) {
  NcclTransports transports;
  transports.add(log);
  return transports.text();
}

TEST(NcclLog, TransportsComeFromTheLogTheNetworkFirst) {
  EXPECT_EQ(transports_in("h:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read\n"
                          "h:1:2 [0] NCCL INFO Channel 00/0 : 1[1] -> 2[0] [send] via NET/Socket/0\n"
                          "h:1:2 [0] NCCL INFO Channel 01/0 : 1[1] -> 2[0] [send] via NET/Socket/0\n"),
            "NET/Socket/0, P2P/CUMEM/read");
  EXPECT_EQ(transports_in("h:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct\n"
                          "h:1:2 [0] NCCL INFO Channel 00/0 : 1[1] -> 2[0] [receive] via NET/IB/1/GDRDMA\n"),
            "NET/IB/1/GDRDMA, SHM/direct/direct");
  EXPECT_EQ(transports_in("nothing of it\n"), "");
}

TEST(NcclLog, VerbsOverEthernetAreNoInfiniBand) {
  const auto over = [](const std::string& ports) {
    return transports_in("h:1:2 [0] NCCL INFO NET/IB : Using " + ports + " [RO]; OOB ib0:10.0.0.1<0>\n" +
                         "h:1:2 [0] NCCL INFO Channel 00/0 : 1[1] -> 2[0] [send] via NET/IB/0(1)\n");
  };
  EXPECT_EQ(over("[0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE"), "NET/IB/0 (RoCE)");
  EXPECT_EQ(over("[0]mlx5_0:1/IB [1]mlx5_1:1/IB"), "NET/IB/0");
  EXPECT_EQ(over("[0]mlx5_0:1/IB/SHARP [1]mlx5_1:1/RoCE"), "NET/IB/0") << "either: it is not reported which";
}

TEST(NcclLog, EachProcessHasPortsOfItsOwn) {
  NcclTransports transports;
  transports.add(
      "a NET/IB : Using [0]mlx5_0:1/RoCE\nChannel 00/0 : 0[0] -> 1[1] [send] via NET/IB/0\ncut sho");
  transports.add("a NET/IB : Using [0]mlx5_0:1/IB\nChannel 00/0 : 1[1] -> 0[0] [send] via NET/IB/0\n");
  EXPECT_EQ(transports.text(), "NET/IB/0, NET/IB/0 (RoCE)");
}

}  // namespace
}  // namespace ddbench::collective
