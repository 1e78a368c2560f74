// What the probe records of work on a real GPU, beside what the GPU's own events and clock say of it: within
// 1%.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include "harness/plugin/probes/open_cuda_probe.h"
#include "probes/recorder/spool.h"
#include "real_gpu.h"
#include "tests/unit/probes/recorder/temp_directory.h"

namespace ddbench {
namespace {

using testing::has_gpu;

constexpr double kTolerance = 0.01;
constexpr std::size_t kBytes = std::size_t{4} << 30;  // a millisecond or more: gaps between them are nothing
constexpr int kRepetitions = 16;
constexpr void* kDefaultStream = nullptr;

/// Runs until the GPU's clock has gone on by `length_ns`.
constexpr const char* kSpin = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry spin(.param .u64 length_ns) {
  .reg .u64 %begin, %passed, %length;
  .reg .pred %waits;
  ld.param.u64 %length, [length_ns];
  mov.u64 %begin, %globaltimer;
again:
  mov.u64 %passed, %globaltimer;
  sub.u64 %passed, %passed, %begin;
  setp.lt.u64 %waits, %passed, %length;
  @%waits bra again;
  ret;
})";

class KnownLengths : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kWarmUp = 0, kMeasured = 1;  // steps

  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "no GPU";
    testing::modules();
    std::string why_not;
    probe_ = probe::open_cuda_probe(recorder_, why_not);
    ASSERT_TRUE(probe_ && probe_->records()) << why_not;
    ASSERT_TRUE(driver_.take_gpu());
  }

  void in_step(std::uint32_t step, const std::function<void()>& work) {
    probe_->push({SpanKind::kCopy, step, kNoBucket, 0, 0});
    work();
    EXPECT_EQ(driver_.call("cuCtxSynchronize"), 0);
    probe_->pop();
  }

  /// Milliseconds between events before and after the repetitions of `work`, in step kMeasured.
  double between_events(const std::function<int()>& work) {
    void *begin = nullptr, *end = nullptr;
    float elapsed = 0;
    EXPECT_EQ(driver_.call("cuEventCreate", &begin, 0u), 0);
    EXPECT_EQ(driver_.call("cuEventCreate", &end, 0u), 0);
    in_step(kWarmUp, [&] { EXPECT_EQ(work(), 0); });  // which may load code
    in_step(kMeasured, [&] {
      EXPECT_EQ(driver_.call("cuEventRecord", begin, kDefaultStream), 0);
      for (int i = 0; i < kRepetitions; ++i) EXPECT_EQ(work(), 0);
      EXPECT_EQ(driver_.call("cuEventRecord", end, kDefaultStream), 0);
    });
    EXPECT_EQ(driver_.call("cuEventElapsedTime", &elapsed, begin, end), 0);
    return elapsed;
  }

  /// Ends the recording. Milliseconds of the spans of that name in step kMeasured.
  double recorded(const std::string& name) {
    probe_->stop();
    recorder_.stop();
    const host::SpoolBatch batch = host::SpoolReader(directory_.path() / "rank0.spool").read();
    double sum_ms = 0;
    for (const Span& span : batch.spans) {
      if (span.step != kMeasured || batch.new_names.at(span.name_id) != name) continue;
      sum_ms += static_cast<double>(span.end_ns - span.begin_ns) * 1e-6;
    }
    return sum_ms;
  }

  void expect_recorded(const std::string& name, double truth_ms) {
    const double recorded_ms = recorded(name);
    std::printf("%s %.3f ms, recorded %.3f ms\n", name.c_str(), truth_ms, recorded_ms);
    EXPECT_GE(truth_ms, 9.9);
    EXPECT_NEAR(recorded_ms, truth_ms, kTolerance * truth_ms);
  }

  unsigned long long allocate() const {
    unsigned long long memory = 0;
    EXPECT_EQ(driver_.call("cuMemAlloc_v2", &memory, kBytes), 0);
    return memory;
  }

  const testing::Driver driver_{};
  const testing::TempDirectory directory_;
  host::Recorder recorder_{{directory_.path() / "rank0.spool", 4096, 0, "test"}};
  std::unique_ptr<cuda::CudaProbe> probe_;
};

TEST_F(KnownLengths, Memsets) {
  const unsigned long long memory = allocate();
  const double truth_ms = between_events(
      [&] { return driver_.call("cuMemsetD32Async", memory, 1u, kBytes / 4, kDefaultStream); });
  EXPECT_EQ(driver_.call("cuMemFree_v2", memory), 0);
  expect_recorded("memset", truth_ms);
}

TEST_F(KnownLengths, CopiesOnTheDevice) {
  const unsigned long long from = allocate(), to = allocate();
  const double truth_ms =
      between_events([&] { return driver_.call("cuMemcpyDtoDAsync_v2", to, from, kBytes, kDefaultStream); });
  EXPECT_EQ(driver_.call("cuMemFree_v2", from), 0);
  EXPECT_EQ(driver_.call("cuMemFree_v2", to), 0);
  expect_recorded("memcpy_on_device", truth_ms);
}

TEST_F(KnownLengths, AKernelOfTenMilliseconds) {
  void *module = nullptr, *spin = nullptr;
  ASSERT_EQ(driver_.call("cuModuleLoadData", &module, static_cast<const void*>(kSpin)), 0);
  ASSERT_EQ(driver_.call("cuModuleGetFunction", &spin, module, "spin"), 0);
  std::uint64_t length_ns = 10'000'000;
  void* parameters[] = {&length_ns};
  void** const extra = nullptr;
  in_step(kMeasured, [&] {
    EXPECT_EQ(driver_.call("cuLaunchKernel", spin, 1u, 1u, 1u, 1u, 1u, 1u, 0u, kDefaultStream,
                           static_cast<void**>(parameters), extra),
              0);
  });
  expect_recorded("spin", 10);
}

}  // namespace
}  // namespace ddbench
