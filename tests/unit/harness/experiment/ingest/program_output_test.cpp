#include "harness/experiment/ingest/program_output.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "temporary_directory.h"

namespace ddbench::experiment {
namespace {

class LoaderErrors : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  test::TemporaryDirectory directory_;
  const std::filesystem::path folder_ = directory_.path();
};

TEST_F(LoaderErrors, NamesTheReasonOfTheDynamicLinker) {
  write("ddbench_inject.so", "");
  const std::string command = fmt::format("LD_PRELOAD='{0}/ddbench_inject.so' /bin/true >'{0}/rank1.log' 2>&1", folder_.string());
  ASSERT_EQ(std::system(command.c_str()), 0);
  const std::vector<std::string> notes = loader_errors(folder_, 2);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("(first on rank 1): file too short"), std::string::npos) << notes[0];
}

TEST_F(LoaderErrors, NamesWhatTheSystemLacksOnce) {
  const std::string text =
      "python3: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by /opt/ddbench/lib/ddbench/ddbench_inject.so)\n";
  write("rank0.log", text);
  write("rank1.log", text);
  const std::vector<std::string> notes = loader_errors(folder_, 2);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("(first on rank 0): /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found. "), std::string::npos) << notes[0];
}

TEST_F(LoaderErrors, OfOtherLibrariesAreNotOurs) {
  write("rank0.log",
        "ERROR: ld.so: object '/opt/other.so' from LD_PRELOAD cannot be preloaded (cannot open shared object file): ignored.\n" +
            std::string(200'000, '.') + "\nloss 0.5\n");
  EXPECT_TRUE(loader_errors(folder_, 3).empty());
}

}  // namespace
}  // namespace ddbench::experiment
