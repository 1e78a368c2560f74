// The real modules, on whatever machine this is.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "../host/temp_directory.h"
#include "ddbench/host/spool.h"
#include "ddbench/inject/process_recorder.h"
#include "ddbench/probe/open_cuda_probe.h"

namespace ddbench {
namespace {

bool has_gpu() {
  return std::filesystem::exists("/dev/nvidiactl");
}

TEST(CudaProbe, SaysWhyItCannotRecordOnAMachineWithoutADriver) {
  if (has_gpu()) GTEST_SKIP() << "this machine has a GPU";
  const testing::TempDirectory directory;
  host::Recorder recorder({directory.path() / "rank0.spool", 1024, 0, "test"});
  ::setenv("DDBENCH_MODULE_DIR", DDBENCH_MODULES, 1);
  std::string why_not;
  EXPECT_EQ(probe::open_cuda_probe(recorder, why_not), nullptr);
  EXPECT_TRUE(why_not.find("CUPTI cannot") != std::string::npos) << why_not;
  EXPECT_EQ(std::getenv("NCCL_PROFILER_PLUGIN"), nullptr) << "the engine times its collectives itself";
  EXPECT_EQ(inject::RecorderAccess(0).get(), nullptr) << "and nobody opens a spool of his own in its process";
}

TEST(CudaInjection, AProgramGoesOnWithoutADriverAndItsSpoolSaysWhy) {
  if (has_gpu()) GTEST_SKIP() << "this machine has a GPU";
  const testing::TempDirectory directory;
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("DDBENCH_SPOOL", (directory.path() / "rank0").c_str(), 1);
    ::setenv("DDBENCH_RANK", "0", 1);
    ::setenv("DDBENCH_RUN_ID", "test", 1);
    void* const module = ::dlopen(DDBENCH_MODULES "/ddbench_inject_cuda.so", RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) std::_Exit(3);
    const auto initialize = reinterpret_cast<int (*)()>(::dlsym(module, "InitializeInjection"));
    if (initialize == nullptr || ::dlsym(module, "InitializeInjectionNvtx2") == nullptr) std::_Exit(4);
    std::exit(initialize() == 1 ? 0 : 5);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  ASSERT_EQ(WEXITSTATUS(status), 0);
  host::SpoolReader reader(directory.path() / ("rank0." + std::to_string(child) + ".spool"));
  const host::SpoolBatch batch = reader.read();
  EXPECT_TRUE(batch.ended);
  ASSERT_EQ(batch.new_names.size(), 1u);
  EXPECT_TRUE(batch.new_names[0].starts_with("cupti unavailable: ")) << batch.new_names[0];
}

}  // namespace
}  // namespace ddbench
