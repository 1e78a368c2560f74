#include <gtest/gtest.h>

#include <map>
#include <string>

#include "probes/machine/machine.h"
#include "temp_directory.h"

namespace ddbench::host {
namespace {

using testing::TempDirectory;

void write_interface(const TempDirectory& tree, const std::string& name, const std::string& state,
                     const std::string& speed, bool physical) {
  const std::string directory = "sys/class/net/" + name + "/";
  tree.write(directory + "type", "1\n");
  tree.write(directory + "operstate", state + "\n");
  if (!speed.empty()) tree.write(directory + "speed", speed + "\n");
  if (physical) tree.write(directory + "device/vendor", "0x15b3\n");
}

std::map<std::string, NetworkInterface> by_name(const Machine& machine) {
  std::map<std::string, NetworkInterface> found;
  for (const NetworkInterface& interface : machine.interfaces) found.emplace(interface.name, interface);
  return found;
}

TEST(Interfaces, SpeedAndStateAreKnownOrExplained) {
  const TempDirectory tree;
  tree.write("sys/class/net/lo/type", "772\n");
  tree.write("sys/class/net/bonding_masters", "bond0\n");
  write_interface(tree, "eth0", "up", "100000", true);
  write_interface(tree, "eth1", "down", "", true);
  write_interface(tree, "ens5", "up", "-1", true);
  write_interface(tree, "docker0", "down", "", false);
  write_interface(tree, "tun0", "unknown", "10", false);
  tree.write("sys/class/net/tun0/carrier", "1\n");
  const Machine machine = inspect_machine(tree.path());
  const auto found = by_name(machine);
  EXPECT_EQ(found.size(), 5u);
  EXPECT_TRUE(found.at("eth0").up);
  EXPECT_TRUE(found.at("eth0").physical);
  EXPECT_EQ(*found.at("eth0").mbit, 100'000);
  EXPECT_FALSE(found.at("eth1").up);
  EXPECT_EQ(found.at("eth1").mbit.reason(), "the interface is down");
  EXPECT_EQ(found.at("ens5").mbit.reason(), "its driver does not report the link speed");
  EXPECT_TRUE(found.at("tun0").up);
  EXPECT_FALSE(found.at("tun0").physical);

  const auto reported = facts(machine);
  EXPECT_EQ(reported.at("nic.eth1.state"), "down");
  EXPECT_EQ(reported.at("nic.ens5.mbit"), "unknown: its driver does not report the link speed");
  EXPECT_FALSE(reported.contains("nic.docker0.state"));
}

TEST(Infiniband, PortsWithRateAndState) {
  const TempDirectory tree;
  const std::string ports = "sys/class/infiniband/mlx5_0/ports/";
  tree.write(ports + "1/rate", "200 Gb/sec (4X HDR)\n");
  tree.write(ports + "1/state", "4: ACTIVE\n");
  tree.write(ports + "1/link_layer", "InfiniBand\n");
  tree.write(ports + "2/rate", "2.5 Gb/sec (1X SDR)\n");
  tree.write(ports + "2/state", "1: DOWN\n");
  tree.write(ports + "2/link_layer", "Ethernet\n");
  tree.write("sys/class/infiniband/mlx5_1/ports/1/rate", "fast\n");
  const Machine machine = inspect_machine(tree.path());
  ASSERT_EQ(machine.infiniband.size(), 3u);
  EXPECT_EQ(machine.infiniband[0].device, "mlx5_0");
  EXPECT_EQ(machine.infiniband[0].state, "ACTIVE");
  EXPECT_EQ(*machine.infiniband[0].gbit, 200);
  EXPECT_EQ(machine.infiniband[1].port, 2);
  EXPECT_EQ(machine.infiniband[1].state, "DOWN");
  EXPECT_EQ(*machine.infiniband[1].gbit, 2.5);
  EXPECT_EQ(machine.infiniband[2].state, "unknown");
  EXPECT_EQ(machine.infiniband[2].gbit.reason(), "the kernel reports the rate as \"fast\"");
  EXPECT_EQ(facts(machine).at("infiniband.mlx5_0.1.gbit"), "200");
}

TEST(Nvidia, DriverVersionOfBothKernelModules) {
  const TempDirectory tree;
  tree.write("proc/driver/nvidia/version",
             "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\n"
             "GCC version:  gcc version 12.3.0\n");
  EXPECT_EQ(*inspect_machine(tree.path()).nvidia_driver, "535.104.05");
  tree.write(
      "proc/driver/nvidia/version",
      "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build  (dvs@builder)\n");
  EXPECT_EQ(*inspect_machine(tree.path()).nvidia_driver, "550.54.15");
  tree.write("proc/driver/nvidia/version", "something else\n");
  EXPECT_FALSE(inspect_machine(tree.path()).nvidia_driver);
}

TEST(Nvidia, GpusByTheirBus) {
  const TempDirectory tree;
  tree.write("proc/driver/nvidia/gpus/0000:65:00.0/information",
             "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 90\nGPU UUID: \t GPU-0\nBus Location: \t "
             "0000:65:00.0\n");
  tree.write("proc/driver/nvidia/gpus/0000:17:00.0/information", "IRQ: 1\n");
  const Machine machine = inspect_machine(tree.path());
  ASSERT_EQ(machine.gpus.size(), 2u);
  EXPECT_EQ(machine.gpus[0].bus_id, "0000:17:00.0");
  EXPECT_EQ(machine.gpus[0].model.reason(), "its information names no model");
  EXPECT_EQ(*machine.gpus[1].model, "NVIDIA H100 80GB HBM3");
}

}  // namespace
}  // namespace ddbench::host
