#include "probes/machine/machine.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <string>

#include "temp_directory.h"

namespace ddbench::host {
namespace {

using testing::TempDirectory;

/// A two-socket machine with one core offline and an affinity of eight cores.
void write_machine(const TempDirectory& tree) {
  tree.write("proc/cpuinfo",
             "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) Gold 6230\n\n"
             "processor\t: 1\nmodel name\t: Intel(R) Xeon(R) Gold 6230\n");
  tree.write("proc/self/status", "Name:\tddbench\nCpus_allowed_list:\t0-3,10-13\n");
  tree.write("sys/devices/system/cpu/online", "0-2,4-31\n");
  tree.write("proc/meminfo", "MemTotal:       197541216 kB\nMemAvailable:   190000000 kB\n");
  tree.write("proc/sys/kernel/hostname", "node7\n");
  tree.write("proc/sys/kernel/osrelease", "6.1.0-13-amd64\n");
  tree.write("proc/sys/kernel/random/boot_id", "5e17e903-2096-42c6-a1fe-5b1fcdd15335\n");
  for (const char* core : {"0", "1", "2", "10", "11", "12", "13"}) {
    tree.write("sys/devices/system/cpu/cpu" + std::string(core) + "/cpufreq/scaling_governor",
               "performance\n");
  }
}

struct MachineTest : ::testing::Test {
  MachineTest() { write_machine(tree); }
  Machine inspect() const { return inspect_machine(tree.path()); }
  TempDirectory tree;
};

TEST_F(MachineTest, ReadsWhatTheKernelReports) {
  const Machine machine = inspect();
  EXPECT_EQ(*machine.cpu_model, "Intel(R) Xeon(R) Gold 6230");
  EXPECT_EQ(*machine.cores, 7) << "core 3 is offline";
  EXPECT_EQ(*machine.memory_bytes, 197541216LL * 1024);
  EXPECT_EQ(*machine.available_memory_bytes, 190000000LL * 1024);
  EXPECT_EQ(*machine.hostname, "node7");
  EXPECT_EQ(*machine.kernel, "6.1.0-13-amd64");
  EXPECT_EQ(*machine.boot_id, "5e17e903-2096-42c6-a1fe-5b1fcdd15335");
  EXPECT_EQ(*machine.governor, "performance");
}

TEST_F(MachineTest, GovernorsThatDifferAreNamed) {
  tree.write("sys/devices/system/cpu/cpu11/cpufreq/scaling_governor", "powersave\n");
  EXPECT_EQ(*inspect().governor, "mixed: performance, powersave");
}

TEST_F(MachineTest, GovernorsOfOtherCoresDoNotMatter) {
  tree.write("sys/devices/system/cpu/cpu20/cpufreq/scaling_governor", "powersave\n");
  EXPECT_EQ(*inspect().governor, "performance");
}

TEST_F(MachineTest, ArmHasNoModelName) {
  tree.write("proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n");
  EXPECT_EQ(*inspect().cpu_model, "ARM implementer 0x41 part 0xd4f");
}

TEST(Machine, AbsenceHasAReason) {
  const TempDirectory empty;
  const Machine machine = inspect_machine(empty.path());
  EXPECT_FALSE(machine.cores);
  EXPECT_FALSE(machine.memory_bytes);
  EXPECT_NE(machine.cpu_model.reason().find("proc/cpuinfo: No such file"), std::string::npos);
  EXPECT_FALSE(machine.governor.reason().empty());
  EXPECT_EQ(machine.nvidia_driver.reason(), "no NVIDIA driver is loaded");
  EXPECT_TRUE(machine.interfaces.empty());
  const auto reported = facts(machine);
  EXPECT_EQ(reported.at("nvidia.driver"), "unknown: no NVIDIA driver is loaded");
  EXPECT_EQ(reported.at("gpu.count"), "0");
  EXPECT_EQ(reported.at("cpu.cores").rfind("unknown: ", 0), 0u);
  EXPECT_EQ(fingerprint(machine).size(), 16u);
}

TEST_F(MachineTest, FactsAreDottedKeys) {
  tree.write("sys/class/net/eth0/type", "1\n");
  tree.write("sys/class/net/eth0/operstate", "up\n");
  tree.write("sys/class/net/eth0/speed", "25000\n");
  tree.write("sys/class/net/eth0/device/vendor", "0x15b3\n");
  tree.write("proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVIDIA H100 80GB HBM3\n");
  const auto reported = facts(inspect());
  EXPECT_EQ(reported.at("cpu.model"), "Intel(R) Xeon(R) Gold 6230");
  EXPECT_EQ(reported.at("cpu.cores"), "7");
  EXPECT_EQ(reported.at("memory.bytes"), "202282205184");
  EXPECT_EQ(reported.at("kernel"), "6.1.0-13-amd64");
  EXPECT_EQ(reported.at("governor"), "performance");
  EXPECT_EQ(reported.at("nic.eth0.mbit"), "25000");
  EXPECT_EQ(reported.at("nic.eth0.state"), "up");
  EXPECT_EQ(reported.at("gpu.count"), "1");
  EXPECT_EQ(reported.at("gpu.0.model"), "NVIDIA H100 80GB HBM3");
  EXPECT_TRUE(reported.contains("library.libnccl.so.2"));
  EXPECT_TRUE(reported.contains("command.srun"));
}

TEST_F(MachineTest, FingerprintIsOfWhatDecidesSpeed) {
  const std::string original = fingerprint(inspect());
  EXPECT_EQ(original.find_first_not_of("0123456789abcdef"), std::string::npos);

  tree.write("proc/sys/kernel/hostname", "node8\n");
  tree.write("proc/sys/kernel/osrelease", "6.5.0\n");
  tree.write("proc/sys/kernel/random/boot_id", "0\n");
  tree.write("proc/meminfo", "MemTotal:       197541000 kB\nMemAvailable:   17 kB\n");
  EXPECT_EQ(fingerprint(inspect()), original);

  const auto changed_by = [&](const std::string& file, const std::string& text) {
    const TempDirectory other;
    write_machine(other);
    other.write(file, text);
    return fingerprint(inspect_machine(other.path())) != original;
  };
  EXPECT_FALSE(changed_by("proc/uptime", "1 2\n"));
  EXPECT_TRUE(changed_by("proc/cpuinfo", "model name : AMD EPYC 7763\n"));
  EXPECT_TRUE(changed_by("proc/self/status", "Cpus_allowed_list:\t0-2\n"));
  EXPECT_TRUE(changed_by("proc/meminfo", "MemTotal: 98770608 kB\n"));
  EXPECT_TRUE(changed_by("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"));
  EXPECT_TRUE(changed_by("proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: NVIDIA L4\n"));
}

TEST(Machine, ThisOneIsUnderstood) {
  const Machine machine = inspect_machine();
  ASSERT_TRUE(machine.cores) << machine.cores.reason();
  ASSERT_TRUE(machine.memory_bytes) << machine.memory_bytes.reason();
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  EXPECT_GE(*machine.cores, 1);
  EXPECT_LE(*machine.cores, CPU_COUNT(&allowed));
  if (!machine.cpu_quota_cores) {
    EXPECT_EQ(*machine.cores, CPU_COUNT(&allowed));
  }
  EXPECT_GT(*machine.memory_bytes, std::int64_t{64} << 20);
  EXPECT_LE(*machine.available_memory_bytes, *machine.memory_bytes);
  EXPECT_EQ(fingerprint(machine), fingerprint(inspect_machine()));
}

}  // namespace
}  // namespace ddbench::host
