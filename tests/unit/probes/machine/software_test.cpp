#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "probes/machine/machine.h"
#include "temp_directory.h"

namespace ddbench::host {
namespace {

using testing::TempDirectory;

TEST(FindLibrary, ReportsTheFileOrTheReason) {
  const Measured<std::string> math = find_library("libm.so.6");
  ASSERT_TRUE(math) << math.reason();
  EXPECT_TRUE(std::filesystem::is_regular_file(*math)) << *math;
  const Measured<std::string> absent = find_library("libddbench-absent.so.9");
  EXPECT_FALSE(absent);
  EXPECT_NE(absent.reason().find("libddbench-absent.so.9"), std::string::npos) << absent.reason();
}

TEST(FindCommand, TakesTheFirstExecutableFile) {
  const TempDirectory tree;
  const auto text = tree.write("a/srun", "not executable");
  const auto program = tree.write("b/srun", "#!/bin/sh\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_exec,
                               std::filesystem::perm_options::add);
  std::filesystem::create_directories(tree.path() / "c" / "srun");
  const std::string a = (tree.path() / "a").string();
  const std::string b = (tree.path() / "b").string();
  const std::string c = (tree.path() / "c").string();
  EXPECT_EQ(*find_command("srun", "/nowhere::" + c + ":" + a + ":" + b), program.string());
  EXPECT_EQ(find_command("srun", a + ":" + c).reason(), "srun is not on PATH");
  EXPECT_FALSE(find_command("srun", ""));
}

}  // namespace
}  // namespace ddbench::host
