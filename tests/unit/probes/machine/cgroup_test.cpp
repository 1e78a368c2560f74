#include "probes/machine/machine.h"

#include <gtest/gtest.h>

#include <string>

#include "temp_directory.h"

namespace ddbench::host {
namespace {

using testing::TempDirectory;

constexpr std::int64_t kGib = std::int64_t{1} << 30;

/// A machine of 8 cores and 16 GiB, of which 12 are available; the tests add the control groups.
struct CgroupTest : ::testing::Test {
  CgroupTest() {
    tree.write("proc/self/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n");
    tree.write("sys/devices/system/cpu/online", "0-7\n");
    tree.write("proc/meminfo", "MemTotal:       16777216 kB\nMemFree: 1 kB\nMemAvailable:   12582912 kB\n");
  }
  void version_1(const std::string& mounted, const std::string& group) {
    tree.write(
        "proc/self/mountinfo",
        "32 31 0:29 " + mounted + " /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n" +
            "35 31 0:32 " + mounted + " /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n");
    tree.write("proc/self/cgroup", "5:memory:" + group + "\n2:cpu,cpuacct:" + group + "\n");
  }
  void version_2(const std::string& group) {
    tree.write("proc/self/mountinfo",
               "22 1 0:20 / / rw - ext4 /dev/vda rw\n"
               "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
    tree.write("proc/self/cgroup", "0::" + group + "\n");
  }
  Machine inspect() const { return inspect_machine(tree.path()); }
  TempDirectory tree;
};

TEST_F(CgroupTest, WithoutGroupsTheMachineCounts) {
  const Machine machine = inspect();
  EXPECT_EQ(*machine.cores, 8);
  EXPECT_EQ(*machine.memory_bytes, 16 * kGib);
  EXPECT_EQ(*machine.available_memory_bytes, 12 * kGib);
  EXPECT_FALSE(machine.cpu_quota_cores);
  EXPECT_EQ(machine.cpu_quota_cores.reason(), "no control group limits the CPU time");
}

TEST_F(CgroupTest, Version2TakesTheTightestLevel) {
  version_2("/jobs/42");
  tree.write("sys/fs/cgroup/jobs/42/cpu.max", "max 100000\n");
  tree.write("sys/fs/cgroup/jobs/cpu.max", "350000 100000\n");
  tree.write("sys/fs/cgroup/jobs/42/memory.max", "max\n");
  tree.write("sys/fs/cgroup/jobs/memory.max", "4294967296\n");
  tree.write("sys/fs/cgroup/jobs/memory.current", "3221225472\n");
  tree.write("sys/fs/cgroup/jobs/memory.stat", "anon 1\ninactive_file 1073741824\nactive_file 7\n");
  const Machine machine = inspect();
  EXPECT_DOUBLE_EQ(*machine.cpu_quota_cores, 3.5);
  EXPECT_EQ(*machine.cores, 3);
  EXPECT_EQ(*machine.memory_bytes, 4 * kGib);
  EXPECT_EQ(*machine.available_memory_bytes, 2 * kGib);
}

TEST_F(CgroupTest, Version1Limits) {
  version_1("/", "/user/me");
  tree.write("sys/fs/cgroup/cpu,cpuacct/user/me/cpu.cfs_quota_us", "50000\n");
  tree.write("sys/fs/cgroup/cpu,cpuacct/user/me/cpu.cfs_period_us", "100000\n");
  tree.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  tree.write("sys/fs/cgroup/memory/user/me/memory.limit_in_bytes", "2147483648\n");
  tree.write("sys/fs/cgroup/memory/user/me/memory.usage_in_bytes", "1073741824\n");
  const Machine machine = inspect();
  EXPECT_DOUBLE_EQ(*machine.cpu_quota_cores, 0.5);
  EXPECT_EQ(*machine.cores, 1) << "half a core is still one to run on";
  EXPECT_EQ(*machine.memory_bytes, 2 * kGib);
  EXPECT_EQ(*machine.available_memory_bytes, kGib);
}

TEST_F(CgroupTest, Version1WithoutLimits) {
  version_1("/", "/");
  tree.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  tree.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  tree.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  const Machine machine = inspect();
  EXPECT_EQ(*machine.cores, 8);
  EXPECT_EQ(*machine.memory_bytes, 16 * kGib);
}

TEST_F(CgroupTest, ContainerSeesItsGroupAtTheMount) {
  // Docker without a cgroup namespace: the path is that of the host, the mount shows the container's group.
  version_1("/docker/abc", "/docker/abc");
  tree.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "200000\n");
  tree.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(*inspect().cores, 2);
}

TEST_F(CgroupTest, GroupOutsideOfTheMount) {
  version_2("/../../outside");
  tree.write("sys/fs/cgroup/cpu.max", "400000 100000\n");
  EXPECT_EQ(*inspect().cores, 4);
}

}  // namespace
}  // namespace ddbench::host
