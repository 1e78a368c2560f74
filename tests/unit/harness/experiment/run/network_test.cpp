#include "harness/experiment/run/network.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace ddbench::experiment {
namespace {

TEST(ProvedNetwork, IsWhatTheTransportSays) {
  EXPECT_EQ(proved_network("veth@1gbit", "tcp eth0 10.77.0.1"), "veth@1gbit");
  EXPECT_EQ(proved_network("loopback", "tcp lo 127.0.0.1"), "loopback");
  EXPECT_EQ(proved_network("loopback", "none"), "loopback");
  EXPECT_EQ(proved_network("", "tcp bond0 10.0.0.1"), "socket");
  EXPECT_EQ(proved_network("", "NET/Socket"), "socket");
  EXPECT_EQ(proved_network("", "NET/IB/GDRDMA"), "infiniband");
  EXPECT_EQ(proved_network("", "ibverbs mlx5_0"), "infiniband");
  EXPECT_EQ(proved_network("", "NET/IB/0 (RoCE), P2P/CUMEM"), "roce");
}

TEST(ProvedNetwork, WhatIsNotKnownProvesNothing) {
  EXPECT_EQ(proved_network("", ""), "");
  EXPECT_EQ(proved_network("", "pigeon"), "");
  EXPECT_EQ(proved_network("ethernet", "P2P/CUMEM"), "") << "within a node: it says nothing of the network";
}

RunCase asking_for(const std::string& network, const std::string& backend) {
  RunCase run_case;
  run_case.requested_network = choice_from<NetworkRequest>("network", network);
  run_case.backend = backend;
  return run_case;
}

TEST(CheckNetwork, RefusesInfinibandThatIsNotThere) {
  host::Machine machine;
  EXPECT_NO_THROW(check_network(asking_for("", "gloo"), machine));
  EXPECT_NO_THROW(check_network(asking_for("ethernet", "gloo"), machine));
  EXPECT_THROW(check_network(asking_for("ib", "nccl"), machine), Error);
  machine.infiniband.emplace_back().link_layer = "Ethernet";
  EXPECT_THROW(check_network(asking_for("ib", "nccl"), machine), Error) << "RoCE is no InfiniBand";
  machine.infiniband.emplace_back().link_layer = "InfiniBand";
  EXPECT_NO_THROW(check_network(asking_for("ib", "nccl"), machine));
  EXPECT_THROW(check_network(asking_for("ib", "gloo"), machine), Error) << "Gloo here is TCP";
}

}  // namespace
}  // namespace ddbench::experiment
