// Each file of the corpus through its target, without libFuzzer: what was found once stays mended.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "fuzz_targets.h"

namespace ddbench::fuzz {
namespace {

class Corpus : public testing::TestWithParam<const Target*> {};

TEST_P(Corpus, HasNoFindings) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(FUZZ_CORPUS) / GetParam()->name)) {
    SCOPED_TRACE(entry.path().string());
    std::ostringstream text;
    text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    const std::string bytes = std::move(text).str();
    EXPECT_NO_THROW(GetParam()->run({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}));
    ++files;
  }
  EXPECT_GT(files, 0);
}

INSTANTIATE_TEST_SUITE_P(All, Corpus, testing::ValuesIn(kTargets),
                         [](const auto& test) { return std::string(test.param->name); });

}  // namespace
}  // namespace ddbench::fuzz
