#include "harness/plugin/module.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>

#include "core/files/cuda_folders.h"
#include "core/error.h"
#include "harness/device/device.h"
#include "harness/device/gpu/gpu_of_rank.h"

namespace ddbench::module {
namespace {

namespace fs = std::filesystem;

Error error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {ErrorCode::kRunFailed, ""};
}

ModuleRequest request_for(const std::string& file) {
  return {.file = file,
          .interface = device::kDeviceInterface,
          .purpose = "the test",
          .build_package = "libx-dev",
          .runtime_package = "libx"};
}

TEST(Module, MissingModuleSaysWhatToInstallAndWhereItLooked) {
  const Error error = error_of([] {
    open_factory(request_for("ddbench_absent.so"), {"/nowhere/a", "/nowhere/b"});
  });
  EXPECT_EQ(error.code(), ErrorCode::kEnvironment);
  for (const char* part :
       {"the test", "ddbench_absent.so", "/nowhere/a, /nowhere/b", "libx-dev", "DDBENCH_MODULE_DIR"}) {
    EXPECT_NE(error.message().find(part), std::string::npos) << part << " in: " << error.message();
  }
}

TEST(Module, FileThatDoesNotLoadNamesTheFileAndThePackage) {
  const fs::path directory =
      fs::path(testing::TempDir()) / ("ddbench_module_test_" + std::to_string(getpid()));
  fs::create_directories(directory);
  std::ofstream(directory / "ddbench_broken.so") << "this is no shared object";
  const Error error = error_of([&] { open_factory(request_for("ddbench_broken.so"), {directory}); });
  fs::remove_all(directory);
  EXPECT_EQ(error.code(), ErrorCode::kEnvironment);
  EXPECT_NE(error.message().find((directory / "ddbench_broken.so").string()), std::string::npos)
      << error.message();
  EXPECT_NE(error.message().find("install libx"), std::string::npos) << error.message();
}

/// Folders of modules for versions of CUDA, in the order in which they are tried.
class CudaFolders : public testing::Test {
 protected:
  CudaFolders() {
    for (const char* const name : {"cuda12", "cuda13", "cuda9", "cudax", "python"}) fs::create_directories(folder_ / name);
  }
  ~CudaFolders() override { fs::remove_all(folder_); }
  std::vector<std::string> order(int driver, int preferred = 0) const {
    std::vector<std::string> names;
    for (const fs::path& place : cuda_folders(folder_, driver, preferred)) {
      names.push_back(place == folder_ ? "." : place.filename().string());
    }
    return names;
  }
  const fs::path folder_ = fs::path(testing::TempDir()) / ("ddbench_cuda_folders_" + std::to_string(getpid()));
};

TEST_F(CudaFolders, TheNewestThatTheDriverKnowsComesFirst) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(order(13), (Names{"cuda13", "cuda12", "cuda9", "."}));
  EXPECT_EQ(order(12), (Names{"cuda12", "cuda9", "cuda13", "."}));
  EXPECT_EQ(order(0), (Names{"cuda13", "cuda12", "cuda9", "."})) << "without a driver none can be used";
  EXPECT_EQ(order(13, 12), (Names{"cuda12", "cuda13", "cuda9", "."})) << "the program's own";
  EXPECT_EQ(cuda_folders("/nowhere", 13), (std::vector<fs::path>{"/nowhere"}));
}

#ifdef DDBENCH_WITH_ONEDNN
/// Builds for CUDA 12 and 13 in one prefix, on a machine that has the libraries of 12 alone. The CPU's module stands
/// for one that loads.
TEST_F(CudaFolders, AVersionWhoseLibrariesAreMissingMakesWayForTheNext) {
  const std::string file = "ddbench_device_cpu.so";
  const fs::path built = fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib/ddbench" / file;
  std::ofstream(folder_ / "cuda13" / file) << "no libcublasLt.so.13";
  fs::create_symlink(built, folder_ / "cuda12" / file);
  ModuleRequest request = request_for(file);
  request.needs_cuda = true;
  EXPECT_NE(open_factory(request, {folder_}), nullptr);
  request.needs_cuda = false;
  EXPECT_NE(error_of([&] { open_factory(request, {folder_}); }).message().find("is not in this build"), std::string::npos);
  fs::remove(folder_ / "cuda12" / file);
  request.needs_cuda = true;
  EXPECT_NE(error_of([&] { open_factory(request, {folder_}); }).message().find("cuda13"), std::string::npos);
}
#endif

TEST(Module, ChosenDirectoryComesFirst) {
  ASSERT_EQ(setenv("DDBENCH_MODULE_DIR", "/chosen/by/user", 1), 0);
  const std::vector<fs::path> directories = module_directories();
  unsetenv("DDBENCH_MODULE_DIR");
  ASSERT_GE(directories.size(), 3U);
  EXPECT_EQ(directories.front(), "/chosen/by/user");
  EXPECT_EQ(module_directories().front(),
            fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib/ddbench");
}

TEST(Device, UnknownNameSaysWhichThereAre) {
  const Error error = error_of([] { device::make_device("tpu"); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_NE(error.message().find("\"tpu\""), std::string::npos);
  EXPECT_NE(error.message().find("cpu"), std::string::npos);
}

#ifdef DDBENCH_WITH_ONEDNN
TEST(Module, OtherVersionOfAnInterfaceIsRefused) {
  ModuleRequest request = request_for("ddbench_device_cpu.so");
  request.interface = "device/0";
  const Error error = error_of([&] { open_factory(request, module_directories()); });
  EXPECT_EQ(error.code(), ErrorCode::kEnvironment);
  EXPECT_NE(error.message().find("another version of ddbench"), std::string::npos) << error.message();
}

TEST(Device, ErrorsOfAModuleAreCaughtByType) {
  const auto cpu = device::make_device("cpu");
  EXPECT_NE(cpu->description().find("oneDNN"), std::string::npos);
  EXPECT_EQ(error_of([&] { cpu->fill({}, 1); }).code(), ErrorCode::kBadInput);
#ifndef DDBENCH_SANITIZED  // which ends the process rather than return no memory
  EXPECT_EQ(error_of([&] { cpu->allocate(std::int64_t{1} << 62); }).code(), ErrorCode::kEnvironment);
#endif
}
#endif

/// Ranks 0 to 3 on a machine with two of them and two of another, numbered round: rank 3 is the second one.
TEST(GpuOfRank, IsThatOfItsNumberOnItsMachine) {
  using gpu::gpu_of_rank;
  EXPECT_EQ(gpu_of_rank(3, "1", 4), 1) << "not rank 3's";
  EXPECT_EQ(gpu_of_rank(12, "0", 8), 0) << "machines of 12 and of 8 GPUs";
  EXPECT_EQ(gpu_of_rank(5, "5", 2), 1) << "shared GPUs";
  EXPECT_EQ(gpu_of_rank(5, "3", 1), 0) << "each process may use one";
  for (const char* const none : {static_cast<const char*>(nullptr), "", "x", "-1", "1 ", "99999999999"}) {
    EXPECT_EQ(gpu_of_rank(5, none, 4), 1);
  }
}

}  // namespace
}  // namespace ddbench::module
