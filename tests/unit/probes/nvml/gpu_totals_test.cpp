#include "probes/nvml/gpu_totals.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "probes/nvml/gpu_monitor.h"

namespace ddbench::cuda {
namespace {

constexpr std::int64_t kTenth = 100'000'000;

GpuSample at(int tenths, std::optional<double> power_w) {
  GpuSample sample;
  sample.at_ns = tenths * kTenth;
  sample.power_w = power_w;
  return sample;
}

TEST(GpuTotals, EnergyIsPowerIntegrated) {
  GpuTotals gpu;
  EXPECT_FALSE(gpu.energy_j());
  // 100 W for a second, then a ramp to 300 W in another.
  for (int i = 0; i <= 10; ++i) gpu.add(at(i, 100));
  for (int i = 1; i <= 10; ++i) gpu.add(at(10 + i, 100 + 20 * i));
  EXPECT_NEAR(*gpu.energy_j(), 100 + 200, 1e-9);
}

TEST(GpuTotals, TimesWithoutPowerAreLeftOut) {
  GpuTotals gpu;
  gpu.add(at(0, 100));
  gpu.add(at(1, 100));
  gpu.add(at(2, std::nullopt));
  gpu.add(at(30, 100));
  gpu.add(at(31, 100));
  EXPECT_NEAR(*gpu.energy_j(), 20, 1e-9);
}

TEST(GpuTotals, TheGpusOwnCounterIsTakenWhereThereIsOne) {
  GpuTotals gpu;
  for (int i = 0; i < 3; ++i) {
    GpuSample sample = at(i, 1000);
    sample.energy_j = 5'000 + 12.5 * i;
    gpu.add(sample);
  }
  EXPECT_DOUBLE_EQ(*gpu.energy_j(), 25);
}

TEST(GpuTotals, ThrottlingIsReportedInWordsAndAsAShare) {
  GpuTotals gpu;
  for (const std::uint64_t reasons :
       {0x1u, 0x4u, 0x4u | 0x20u, 0x2u}) {  // idle, power cap, and heat, clocks set
    GpuSample sample;
    sample.throttle_reasons = reasons;
    gpu.add(sample);
  }
  EXPECT_EQ(throttle_words(gpu.throttle_reasons()), (std::vector<std::string>{"power cap", "too hot"}));
  EXPECT_DOUBLE_EQ(gpu.throttled_share(), 0.5);
  EXPECT_TRUE(throttle_words(0x1 | 0x2 | 0x10 | 0x100).empty());
  EXPECT_EQ(throttle_words(0x80), std::vector<std::string>{"power brake"});
}

TEST(GpuTotals, WhatNoSampleReportedIsAbsent) {
  GpuTotals gpu;
  gpu.add(at(0, std::nullopt));
  EXPECT_FALSE(gpu.mean_utilisation());
  EXPECT_FALSE(gpu.ecc_uncorrected());
  EXPECT_FALSE(gpu.highest_temperature_c());
  EXPECT_TRUE(gpu_facts({gpu}).empty());
}

TEST(GpuTotals, ErrorsAreThoseOfTheRunAndNotOfACounterThatWasReset) {
  GpuTotals gpu;
  for (const std::uint64_t errors : {7u, 7u, 9u}) {
    GpuSample sample;
    sample.ecc_uncorrected = errors;
    sample.ecc_corrected = 20 - errors;
    gpu.add(sample);
  }
  EXPECT_EQ(gpu.ecc_uncorrected(), 2u);
  EXPECT_FALSE(gpu.ecc_corrected());
}

TEST(GpuFacts, OnlyBusyGpusCountForTheEnergyOfARun) {
  GpuTotals busy;
  GpuTotals idle;
  for (int i = 0; i <= 10; ++i) {
    GpuSample sample = at(i, 400);
    sample.utilisation = i == 5 ? 0.9 : 0;
    sample.sm_clock_mhz = 1980 - 10 * i;
    sample.throttle_reasons = i == 7 ? 0x4 : 0;
    busy.add(sample);
    sample.utilisation = 0;
    idle.add(sample);
  }
  const auto facts = gpu_facts({busy, idle});
  EXPECT_EQ(facts.at("gpu.energy_j"), "400");
  EXPECT_EQ(facts.at("gpu.1.energy_j"), "400");
  EXPECT_EQ(facts.at("gpu.0.throttled"), "power cap");
  EXPECT_EQ(facts.at("gpu.0.lowest_sm_clock_mhz"), "1880");
  ASSERT_EQ(gpu_notes({busy, idle}).size(), 1u);
  EXPECT_EQ(gpu_notes({busy, idle})[0],
            "GPU 0 was throttled in 9% of the samples (power cap): its clock fell to 1880 MHz");
}

TEST(GpuMonitor, SamplesUntilItIsStopped) {
  struct Recorded : GpuSource {
    explicit Recorded(std::atomic<int>& samples) : samples(samples) {}
    std::atomic<int>& samples;
    std::vector<GpuSample> read() override { return {at(samples++, 50)}; }
  };
  std::atomic<int> samples = 0;
  GpuMonitor monitor(std::make_unique<Recorded>(samples), std::chrono::milliseconds(1));
  while (samples < 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const std::vector<GpuTotals>& gpus = monitor.stop();
  ASSERT_EQ(gpus.size(), 1u);
  EXPECT_GE(gpus[0].samples(), 2u);
  EXPECT_NEAR(*gpus[0].energy_j(), 5.0 * static_cast<double>(gpus[0].samples() - 1), 1e-9);
}

TEST(OpenNvml, SaysWhyThereIsNone) {
  std::string why_not;
  if (open_nvml(why_not) != nullptr) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_FALSE(why_not.empty());
}

}  // namespace
}  // namespace ddbench::cuda
