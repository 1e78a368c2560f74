#include "core/text/nearest.h"

#include <gtest/gtest.h>

namespace ddbench {
namespace {

TEST(Nearest, IsTheCandidateWithFewErrors) {
  const std::vector<std::string> names{"speedup", "step time", "busbw"};
  EXPECT_EQ(nearest("speedpu", names), "speedup");
  EXPECT_EQ(nearest("step", names), "step time") << "the candidate begins with it";
  EXPECT_EQ(nearest("bsbw", names), "busbw");
  EXPECT_EQ(nearest("efficiency", names), "");
  EXPECT_EQ(nearest("", names), "");
}

/// A table of all pairs of their letters would need 4 TB.
TEST(Nearest, LeavesOutWhatIsTooLongToBeMeant) {
  EXPECT_EQ(nearest(std::string(1'000'000, 'a'), {std::string(500'000, 'a'), "speedup"}), "");
}

}  // namespace
}  // namespace ddbench
