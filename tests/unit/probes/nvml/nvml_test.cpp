// The driver's library is tests/support/nvml_on_host: ctest names its folder in LD_LIBRARY_PATH.
#include <gtest/gtest.h>

#include <cstdlib>

#include "probes/nvml/gpu_monitor.h"

namespace ddbench::cuda {
namespace {

TEST(Nvml, WhatTheDriverReportsHasItsUnits) {
  std::string why_not;
  const auto source = open_nvml(why_not);
  ASSERT_NE(source, nullptr) << why_not;
  const std::vector<GpuSample> first = source->read();
  ASSERT_EQ(first.size(), 2u);
  const GpuSample& busy = first[0];
  EXPECT_DOUBLE_EQ(busy.utilisation.value(), 0.8);
  EXPECT_DOUBLE_EQ(busy.sm_clock_mhz.value(), 1200);
  EXPECT_DOUBLE_EQ(busy.power_w.value(), 300);
  EXPECT_DOUBLE_EQ(busy.temperature_c.value(), 65);
  EXPECT_EQ(busy.throttle_reasons.value(), 4u);
  EXPECT_EQ(busy.ecc_corrected.value(), 2u) << "since the driver was loaded, not ever";
  EXPECT_EQ(busy.ecc_uncorrected.value(), 1u);
  const GpuSample later = source->read()[0];
  EXPECT_DOUBLE_EQ(later.energy_j.value() - busy.energy_j.value(), 60) << "both GPUs were asked twice";
  EXPECT_GT(later.at_ns, busy.at_ns);
}

TEST(Nvml, WhatAGpuDoesNotShowIsMissing) {
  std::string why_not;
  const auto source = open_nvml(why_not);
  ASSERT_NE(source, nullptr) << why_not;
  const GpuSample idle = source->read().at(1);
  EXPECT_DOUBLE_EQ(idle.utilisation.value(), 0);
  EXPECT_DOUBLE_EQ(idle.sm_clock_mhz.value(), 210);
  EXPECT_FALSE(idle.energy_j.has_value());
  EXPECT_FALSE(idle.ecc_corrected.has_value());
  EXPECT_FALSE(idle.ecc_uncorrected.has_value());
}

TEST(Nvml, WithoutADriverOrAGpuItSaysSo) {
  std::string why_not;
  ::setenv("NVML_ON_HOST", "not loaded", 1);
  EXPECT_EQ(open_nvml(why_not), nullptr);
  EXPECT_EQ(why_not, "libnvidia-ml.so.1 does not start: is the driver loaded?");
  ::setenv("NVML_ON_HOST", "none", 1);
  EXPECT_EQ(open_nvml(why_not), nullptr);
  EXPECT_EQ(why_not, "the NVIDIA driver lists no GPU");
  ::unsetenv("NVML_ON_HOST");
}

}  // namespace
}  // namespace ddbench::cuda
