#include "probes/machine/counters.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/clock.h"
#include "temp_directory.h"

namespace ddbench::host {
namespace {

using testing::TempDirectory;

constexpr const char* kNetDevHead =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls "
    "carrier "
    "compressed\n";

struct CountersTest : ::testing::Test {
  void write_interfaces(const std::string& lines) { tree.write("proc/net/dev", kNetDevHead + lines); }
  TempDirectory tree;
};

TEST_F(CountersTest, ReadsEveryColumn) {
  write_interfaces(
      "    lo:    3267      29    0    0    0     0          0         0     3267      29    0    0    0     "
      "0       0          0\n"
      "  eth0:10188675 479 1 2 3 4 5 6 34873 457 7 8 9 10 11 12\n");
  tree.write(
      "proc/net/snmp",
      "Ip: Forwarding DefaultTTL\nIp: 2 64\n"
      "Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets CurrEstab "
      "InSegs "
      "OutSegs RetransSegs InErrs OutRsts InCsumErrors\nTcp: 1 200 120000 -1 12 2 0 0 0 480 451 17 0 0 0\n");
  tree.write("proc/stat", "cpu  100 20 30 4000 50 6 7 80 9 1\ncpu0 1 2 3 4 5 6 7 8 9 10\n");
  tree.write("proc/self/status", "VmPeak:\t  9000 kB\nVmHWM:\t    2152 kB\n");
  const std::string port = "sys/class/infiniband/mlx5_0/ports/1/counters/";
  tree.write(port + "port_xmit_data", "1000\n");
  tree.write(port + "port_rcv_data", "2000\n");
  tree.write(port + "port_xmit_wait", "3\n");
  tree.write(port + "broken", "not a number\n");

  const Counters counters = read_counters(tree.path());
  ASSERT_EQ(counters.interfaces.size(), 2u);
  EXPECT_EQ(counters.interfaces.at("lo").sent_packets, 29u);
  EXPECT_EQ(counters.interfaces.at("eth0"), (InterfaceCounters{10188675, 479, 1, 2, 34873, 457, 7, 8}));
  EXPECT_EQ(*counters.tcp_retransmitted_segments, 17u);
  EXPECT_EQ(*counters.peak_memory_bytes, 2152 * 1024);
  EXPECT_EQ(*counters.processors, (ProcessorTicks{.busy = 163, .stolen = 80}));
  using Port = std::map<std::string, std::uint64_t>;
  EXPECT_EQ(counters.infiniband.at("mlx5_0/1"),
            (Port{{"port_xmit_bytes", 4000}, {"port_rcv_bytes", 8000}, {"port_xmit_wait", 3}}));
}

TEST_F(CountersTest, AbsenceHasAReason) {
  const Counters counters = read_counters(tree.path());
  EXPECT_TRUE(counters.interfaces.empty());
  EXPECT_TRUE(counters.infiniband.empty());
  EXPECT_NE(counters.tcp_retransmitted_segments.reason().find("proc/net/snmp"), std::string::npos);
  EXPECT_NE(counters.peak_memory_bytes.reason().find("proc/self/status"), std::string::npos);
  tree.write("proc/net/snmp", "Tcp: InSegs\nTcp: 1\n");
  EXPECT_EQ(read_counters(tree.path()).tcp_retransmitted_segments.reason(),
            "/proc/net/snmp has no RetransSegs");
  EXPECT_NE(counters.processors.reason().find("proc/stat"), std::string::npos);
  tree.write("proc/stat", "cpu  100 20 30 4000\n");
  EXPECT_EQ(read_counters(tree.path()).processors.reason(),
            "/proc/stat does not report steal time");
}

Counters sample_counters() {
  Counters counters;
  counters.at_ns = 1000;
  counters.interfaces = {{"eth0", {100, 10, 0, 0, 200, 20, 0, 1}}, {"veth0", {5, 5, 5, 5, 5, 5, 5, 5}}};
  counters.infiniband = {{"mlx5_0/1", {{"port_xmit_wait", 10}, {"gone", 1}}}};
  counters.processors = ProcessorTicks{.busy = 100, .stolen = 10};
  counters.tcp_retransmitted_segments = 3;
  counters.peak_memory_bytes = 1 << 20;
  counters.voluntary_switches = 7;
  counters.involuntary_switches = 2;
  return counters;
}

TEST(CountersDifference, CountsBetweenTheReadings) {
  const Counters before = sample_counters();
  Counters after = before;
  after.at_ns = 5000;
  after.interfaces.at("eth0") = {150, 15, 0, 2, 300, 30, 0, 1};
  after.infiniband.at("mlx5_0/1") = {{"port_xmit_wait", 25}, {"new", 9}};
  after.processors = ProcessorTicks{.busy = 150, .stolen = 10};
  after.tcp_retransmitted_segments = 8;
  after.peak_memory_bytes = 3 << 20;
  after.voluntary_switches = 17;
  after.involuntary_switches = 5;
  const Counters counted = difference(before, after);
  EXPECT_EQ(counted.at_ns, 4000);
  EXPECT_EQ(counted.interfaces.at("eth0"), (InterfaceCounters{50, 5, 0, 2, 100, 10, 0, 0}));
  EXPECT_EQ(counted.interfaces.at("veth0"), InterfaceCounters{});
  EXPECT_EQ(counted.infiniband.at("mlx5_0/1"),
            (std::map<std::string, std::uint64_t>{{"port_xmit_wait", 15}}));
  EXPECT_EQ(*counted.processors, (ProcessorTicks{.busy = 50, .stolen = 0}));
  EXPECT_EQ(*counted.tcp_retransmitted_segments, 5u);
  EXPECT_EQ(*counted.peak_memory_bytes, 3 << 20);
  EXPECT_EQ(counted.voluntary_switches, 10u);
  EXPECT_EQ(counted.involuntary_switches, 3u);
  EXPECT_TRUE(counted.notes.empty());
}

TEST(CountersDifference, WhatCannotBeComparedIsLeftOutAndNamed) {
  const Counters before = sample_counters();
  Counters after = before;
  after.interfaces.erase("veth0");
  after.interfaces["eth1"] = {};
  after.interfaces.at("eth0").sent_bytes = 1;
  after.infiniband.at("mlx5_0/1").at("port_xmit_wait") = 1;
  after.processors = ProcessorTicks{.busy = 150, .stolen = 9};
  after.tcp_retransmitted_segments = 1;
  const Counters counted = difference(before, after);
  EXPECT_TRUE(counted.interfaces.empty());
  EXPECT_TRUE(counted.infiniband.empty());
  EXPECT_EQ(counted.tcp_retransmitted_segments.reason(), "the counter was reset between the readings");
  EXPECT_EQ(counted.processors.reason(), "the counter was reset between the readings");
  EXPECT_EQ(counted.notes, (std::vector<std::string>{
                               "the counters of eth0 were reset between the readings: not counted",
                               "eth1 appeared between the readings: not counted",
                               "veth0 disappeared between the readings: not counted",
                               "the counters of mlx5_0/1 were reset between the readings: not counted"}));
}

TEST(CountersOfThisProcess, GrowWithTheirCause) {
  const Counters before = read_counters();
  std::vector<char> touched(std::size_t{64} << 20, 1);
  const Counters after = read_counters();
  ASSERT_TRUE(after.peak_memory_bytes) << after.peak_memory_bytes.reason();
  EXPECT_GE(*after.peak_memory_bytes, std::int64_t{64} << 20);
  EXPECT_GE(*after.peak_memory_bytes, *before.peak_memory_bytes);
  EXPECT_GE(difference(before, after).at_ns, 0);
  EXPECT_EQ(touched.back(), 1);
}

}  // namespace
}  // namespace ddbench::host
