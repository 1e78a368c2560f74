#include "harness/launch/local/network_plan.h"
#include "harness/launch/start/network_settings.h"

#include <gtest/gtest.h>

#include <set>

namespace ddbench::launch {
namespace {

TEST(NetworkPlan, EveryNodeHasAnAddressOfItsOwn) {
  EXPECT_EQ(node_address(0), "10.77.0.1");
  EXPECT_EQ(node_address(255), "10.77.1.0");
  EXPECT_EQ(node_address(65533), "10.77.255.254");
  std::set<std::string> addresses;
  for (int node = 0; node < 1000; ++node) addresses.insert(node_address(node));
  EXPECT_EQ(addresses.size(), 1000u);
}

TEST(NetworkPlan, TheBucketHoldsAWholeGsoPacketAtAnyRate) {
  for (std::int64_t rate = 1'000'000; rate <= 100'000'000'000; rate *= 10) {
    const Shaping shaping = shaping_for({rate});
    EXPECT_GE(shaping.burst_bytes, 65536 + 2048);
    EXPECT_EQ(shaping.rate_bits_per_s, rate);
  }
  EXPECT_EQ(shaping_for({10'000'000'000}).burst_bytes, 625'000);  // half a millisecond
}

TEST(NetworkPlan, ShapingIsAskedForInBits) {
  EXPECT_EQ(shaping_command("eth0", {2'500'000'000, 156'250, 20}),
            "qdisc replace dev eth0 root tbf rate 2500000000bit burst 156250b latency 20ms\n");
}

TEST(NetworkPlan, ReadsTheRateThatTcReports) {
  EXPECT_EQ(rate_from_qdisc("qdisc tbf 8001: root refcnt 3 rate 1Gbit burst 72Kb lat 20ms")->bits_per_s,
            1'000'000'000);
  EXPECT_EQ(
      rate_from_qdisc("qdisc tbf 8001: dev node0 root refcnt 3 rate 2500Mbit burst 1b lat 20ms")->bits_per_s,
      2'500'000'000);
  EXPECT_EQ(rate_from_qdisc("qdisc tbf 8001: root refcnt 3 rate 1500Kbit burst 1b lat 20ms")->bits_per_s,
            1'500'000);
  EXPECT_FALSE(rate_from_qdisc("qdisc noqueue 0: dev lo root refcnt 2"));
  EXPECT_FALSE(rate_from_qdisc("qdisc tbf 8001: root refcnt 3 rate fast"));
  EXPECT_FALSE(rate_from_qdisc(""));
  EXPECT_EQ(congestion_control_of("10.77.0.0/16 dev eth0 scope link src 10.77.0.1 congctl reno \n"), "reno");
  EXPECT_EQ(congestion_control_of("10.77.0.0/16 dev eth0 scope link src 10.77.0.1 \n"), "");
}

TEST(NetworkPlan, ReportsNcclTheNetworkThatWasAskedFor) {
  EXPECT_EQ(network_settings(NetworkRequest::kEthernet).at("NCCL_IB_DISABLE"), "1");
  EXPECT_EQ(network_settings(NetworkRequest::kEthernet).at("NCCL_NET"), "Socket");
  EXPECT_EQ(network_settings(NetworkRequest::kInfiniBand).at("NCCL_NET"), "IB");
  EXPECT_TRUE(network_settings(NetworkRequest::kAny).empty());
}

TEST(NetworkPlan, AddsUpDroppedPackets) {
  EXPECT_EQ(dropped_packets("Sent 1 bytes 1 pkt (dropped 3, overlimits 0 requeues 0)\n"
                            "Sent 1 bytes 1 pkt (dropped 40, overlimits 0 requeues 0)"),
            43);
  EXPECT_EQ(dropped_packets(""), 0);
}

}  // namespace
}  // namespace ddbench::launch
