// The real modules, on whatever machine this is.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/plugin/probes/open_cuda_probe.h"
#include "probes/preload/session/process_recorder.h"
#include "probes/recorder/spool.h"
#include "real_gpu.h"
#include "tests/unit/probes/recorder/temp_directory.h"

namespace ddbench {
namespace {

using testing::Driver;
using testing::has_gpu;
using testing::modules;

TEST(CudaProbe, SaysWhyItCannotRecordOnAMachineWithoutADriver) {
  if (has_gpu()) GTEST_SKIP() << "this machine has a GPU";
  const testing::TempDirectory directory;
  host::Recorder recorder({directory.path() / "rank0.spool", 1024, 0, "test"});
  modules();
  std::string why_not;
  const auto probe = probe::open_cuda_probe(recorder, why_not);
  ASSERT_NE(probe, nullptr) << why_not;
  EXPECT_TRUE(why_not.find("CUPTI cannot") != std::string::npos) << why_not;
  EXPECT_EQ(probe->unavailable(), why_not);
  EXPECT_EQ(cuda::if_it_records(probe.get()), nullptr);
  EXPECT_FALSE(probe->follow_capture(true));
  // NCCL's profiler still reports how collectives were performed: it records for the engine, in its ranges.
  const char* const plugin = std::getenv("NCCL_PROFILER_PLUGIN");
  ASSERT_NE(plugin, nullptr);
  EXPECT_TRUE(std::string(plugin).ends_with("ddbench_nccl_profiler.so")) << plugin;
  EXPECT_EQ(inject::RecorderAccess(0).get(), &recorder);
  probe->push({SpanKind::kCommunication, 7, 3, 4096, 42});
  EXPECT_EQ(inject::thread_range().correlation, 42u);
  probe->pop();
  EXPECT_EQ(inject::thread_range().correlation, 0u);
  const cuda::ProbeCounters counters = probe->stop();
  EXPECT_EQ(counters.records, 0u);
}

TEST(CudaProbe, RecordsWhatARealGpuDoesInItsRange) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  const testing::TempDirectory directory;
  host::Recorder recorder({directory.path() / "rank0.spool", 4096, 0, "test"});
  modules();
  std::string why_not;
  const auto probe = probe::open_cuda_probe(recorder, why_not);
  ASSERT_TRUE(probe && probe->records()) << why_not;
  const Driver driver;
  unsigned long long memory = 0;
  constexpr std::size_t kBytes = 64u << 20;
  std::vector<char> host_memory(kBytes);
  ASSERT_TRUE(driver.take_gpu());
  ASSERT_EQ(driver.call("cuMemAlloc_v2", &memory, kBytes), 0);
  const std::int64_t begin_ns = now_ns();
  probe->push({SpanKind::kCopy, 7, 3, 0, 0});
  EXPECT_EQ(driver.call("cuMemsetD8_v2", memory, static_cast<unsigned char>(1), kBytes), 0);
  EXPECT_EQ(driver.call("cuMemcpyDtoH_v2", static_cast<void*>(host_memory.data()), memory, kBytes), 0);
  EXPECT_EQ(driver.call("cuCtxSynchronize"), 0);
  probe->pop();
  const std::int64_t end_ns = now_ns();
  const cuda::ProbeCounters counters = probe->stop();
  recorder.stop();
  EXPECT_EQ(counters.invalid_times, 0u);
  EXPECT_EQ(counters.dropped_records, 0u);
  host::SpoolReader reader(directory.path() / "rank0.spool");
  const host::SpoolBatch batch = reader.read();
  std::map<std::string, Span> copies;
  for (const Span& span : batch.spans) {
    if (span.kind == SpanKind::kCopy) copies[batch.new_names.at(span.name_id)] = span;
  }
  ASSERT_TRUE(copies.contains("memset") && copies.contains("memcpy_to_host"));
  for (const auto& [name, span] : copies) {
    EXPECT_EQ(span.bytes, kBytes) << name;
    EXPECT_EQ(span.step, 7u) << name;
    EXPECT_EQ(span.bucket, 3) << name;
    EXPECT_GE(span.begin_ns, begin_ns - 100'000) << name << ": on ddbench's clock";
    EXPECT_LE(span.end_ns, end_ns + 100'000) << name;
  }
}

TEST(CudaProbe, ARealGraphHasTheRangesOfItsCaptureAndTheStepsOfItsLaunches) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  const testing::TempDirectory directory;
  host::Recorder recorder({directory.path() / "rank0.spool", 4096, 0, "test"});
  modules();
  std::string why_not;
  const auto probe = probe::open_cuda_probe(recorder, why_not);
  ASSERT_TRUE(probe && probe->records()) << why_not;
  const Driver driver;
  void *stream = nullptr, *graph = nullptr, *executable = nullptr;
  unsigned long long memory = 0;
  constexpr std::size_t kBytes = 1u << 20;
  ASSERT_TRUE(driver.take_gpu());
  ASSERT_EQ(driver.call("cuMemAlloc_v2", &memory, kBytes), 0);
  ASSERT_EQ(driver.call("cuStreamCreate", &stream, 1u), 0);
  ASSERT_TRUE(probe->follow_capture(true));
  ASSERT_EQ(driver.call("cuStreamBeginCapture_v2", stream, 1), 0);
  for (std::uint16_t bucket = 3; bucket < 5; ++bucket) {
    probe->push({SpanKind::kCopy, kNoStep, bucket, 0, 0});
    EXPECT_EQ(driver.call("cuMemsetD8Async", memory, static_cast<unsigned char>(bucket), kBytes, stream), 0);
    probe->pop();
  }
  ASSERT_EQ(driver.call("cuStreamEndCapture", stream, &graph), 0);
  ASSERT_EQ(driver.call("cuGraphInstantiateWithFlags", &executable, graph, 0ULL), 0);
  ASSERT_TRUE(probe->follow_capture(false));
  for (std::uint32_t step = 7; step < 9; ++step) {
    probe->push({SpanKind::kCompute, step, kNoBucket, 0, 0});
    EXPECT_EQ(driver.call("cuGraphLaunch", executable, stream), 0);
    probe->pop();
  }
  EXPECT_EQ(driver.call("cuCtxSynchronize"), 0);
  EXPECT_EQ(probe->stop().without_range, 0u);
  recorder.stop();
  std::map<std::pair<std::uint32_t, int>, int> seen;  // by step and bucket
  for (const Span& span : host::SpoolReader(directory.path() / "rank0.spool").read().spans) {
    if (span.kind == SpanKind::kCopy) ++seen[{span.step, span.bucket}];
  }
  const std::map<std::pair<std::uint32_t, int>, int> expected{
      {{7, 3}, 1}, {{7, 4}, 1}, {{8, 3}, 1}, {{8, 4}, 1}};
  EXPECT_EQ(seen, expected);
}

/// A user's program with the driver's call: its spool states once, beside its files, why there are no
/// kernels.
std::string why_there_are_no_kernels(const std::filesystem::path& module_folder) {
  const testing::TempDirectory directory;
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("DDBENCH_SPOOL", (directory.path() / "rank0").c_str(), 1);
    ::setenv("DDBENCH_RANK", "0", 1);
    ::setenv("DDBENCH_RUN_ID", "test", 1);
    void* const module = ::dlopen((module_folder / "ddbench_inject_cuda.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) std::_Exit(3);
    const auto initialize = reinterpret_cast<int (*)()>(::dlsym(module, "InitializeInjection"));
    if (initialize == nullptr) std::_Exit(4);
    std::exit(initialize() == 1 ? 0 : 5);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  host::SpoolReader reader(directory.path() / ("rank0." + std::to_string(child) + ".spool"));
  const host::SpoolBatch batch = reader.read();
  EXPECT_TRUE(batch.ended);
  std::vector<std::string> reasons = batch.new_names;
  std::erase_if(reasons, [](const std::string& name) { return !name.starts_with("cupti."); });
  EXPECT_EQ(reasons.size(), 1u);
  return reasons.empty() ? "" : reasons[0];
}

TEST(CudaInjection, AProgramGoesOnWithoutADriverAndItsSpoolSaysWhy) {
  if (has_gpu()) GTEST_SKIP() << "this machine has a GPU";
  const std::string why = why_there_are_no_kernels(modules());
  EXPECT_TRUE(why.starts_with("cupti.unavailable: CUPTI cannot be taken")) << why;
  void* const probe = ::dlopen((modules() + "/ddbench_inject_cupti.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(probe, nullptr) << ::dlerror();
  EXPECT_NE(::dlsym(probe, "InitializeInjectionNvtx2"), nullptr);
}

TEST(CudaInjection, AProgramGoesOnWithoutTheProbeOrItsLibrariesAndItsSpoolSaysWhy) {
  const testing::TempDirectory directory;
  for (const char* const name : {"ddbench_inject_cuda.so", "ddbench_session.so"}) {
    std::filesystem::create_symlink(std::filesystem::path(modules()) / name, directory.path() / name);
  }
  EXPECT_EQ(why_there_are_no_kernels(directory.path()),
            "cupti.unavailable: this build of ddbench has no probe of CUDA kernels: build it where the CUDA "
            "Toolkit is");
  std::ofstream(directory.path() / "ddbench_inject_cupti.so") << "no shared object";
  const std::string why = why_there_are_no_kernels(directory.path());
  EXPECT_TRUE(why.starts_with("cupti.unavailable: ")) << why;
  EXPECT_NE(why.find("ddbench_inject_cupti.so"), std::string::npos) << why;
  EXPECT_TRUE(why.ends_with("; is the CUPTI of the CUDA Toolkit installed?")) << why;
  std::filesystem::remove(directory.path() / "ddbench_inject_cupti.so");
  // It loads, and is none.
  std::filesystem::copy(std::filesystem::path(modules()) / "ddbench_session.so",
                        directory.path() / "ddbench_inject_cupti.so");
  EXPECT_NE(why_there_are_no_kernels(directory.path()).find("InitializeInjection"), std::string::npos);
}

}  // namespace
}  // namespace ddbench
