#include "probes/machine/network_checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "temporary_directory.h"
#include "text.h"

namespace ddbench::host {
namespace {

using test::contains;

NetworkCheck check_of(const std::filesystem::path& root, const char* what) {
  const std::vector<NetworkCheck> checks = check_network_parts(root);
  const auto found = std::find_if(checks.begin(), checks.end(), [&](const NetworkCheck& check) { return check.what == what; });
  EXPECT_NE(found, checks.end()) << what;
  return found == checks.end() ? checks.front() : *found;
}

void write(const std::filesystem::path& file, const char* text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text << '\n';
}

TEST(NetworkChecks, AMachineWithoutAnyNamesWhatIsMissing) {
  const test::TemporaryDirectory root;
  for (const char* what : {"OFED", "GPUDirect RDMA", "SR-IOV", "/dev/shm"}) {
    const NetworkCheck check = check_of(root.path(), what);
    EXPECT_FALSE(check.value) << what;
    EXPECT_FALSE(check.cost.empty()) << what;
  }
}

TEST(NetworkChecks, AVirtualMachineWithInfiniBand) {
  const test::TemporaryDirectory root;
  write(root.path() / "sys/module/mlx5_core/version", "24.10-1.1.4");
  write(root.path() / "sys/module/nvidia_peermem/refcnt", "0");
  write(root.path() / "sys/class/infiniband/mlx5_0/device/physfn/vendor", "0x15b3");
  write(root.path() / "sys/class/infiniband/mlx5_1/device/sriov_numvfs", "4");
  EXPECT_EQ(*check_of(root.path(), "OFED").value, "mlx5_core 24.10-1.1.4");
  EXPECT_EQ(*check_of(root.path(), "GPUDirect RDMA").value, "nvidia_peermem");
  EXPECT_EQ(*check_of(root.path(), "SR-IOV").value, "mlx5_0 is a virtual function, mlx5_1 has 4 virtual functions");
}

TEST(NetworkChecks, SettingsOfNcclAreListed) {
  ::setenv("NCCL_TEST_OF_CHECKS", "1", 1);
  EXPECT_TRUE(contains(*check_of("/", "NCCL_* settings").value, "NCCL_TEST_OF_CHECKS=1"));
  ::unsetenv("NCCL_TEST_OF_CHECKS");
}

}  // namespace
}  // namespace ddbench::host
