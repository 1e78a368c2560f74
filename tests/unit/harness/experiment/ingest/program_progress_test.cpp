#include "harness/experiment/ingest/program_progress.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <vector>

#include "temporary_directory.h"

namespace ddbench::experiment {
namespace {

class Counts : public testing::Test {
 protected:
  /// Steps, ends of the first and last one, communication at all, at the first and at the last one.
  void write(const char* name, const std::vector<std::int64_t>& values) {
    std::ofstream(folder_.path() / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(8 * values.size()));
  }
  auto read() { return read_program_progress(folder_.path()); }

  test::TemporaryDirectory folder_;
};

TEST_F(Counts, TheSlowestRankDecides) {
  EXPECT_FALSE(read());
  write("rank0.10.live", {101, 1'000'000'000, 3'000'000'000, 900'000'000, 100'000'000, 700'000'000});
  write("rank1.11.live", {81, 1'000'000'000, 3'000'000'000, 900'000'000, 100'000'000, 300'000'000});
  write("rank0.12.live", {0, 0, 0, 500, 0, 0});  // a loader
  ASSERT_TRUE(read());
  EXPECT_EQ(read()->steps_done, 81u);
  EXPECT_DOUBLE_EQ(read()->steps_per_s, 40);
  EXPECT_DOUBLE_EQ(read()->communication_share, (0.3 + 0.1) / 2);
  EXPECT_TRUE(std::isnan(read()->loss));
}

TEST_F(Counts, OneStepHasNoRate) {
  write("rank0.10.live", {1, 5, 5, 0, 0, 0});
  ASSERT_TRUE(read());
  EXPECT_EQ(read()->steps_per_s, 0);
  EXPECT_EQ(read()->communication_share, 0);
}

TEST_F(Counts, WhatCannotBeIsPassedOver) {
  write("rank0.10.live", {5, 9, 3, 0, 0, 0});
  write("rank1.11.live", {5, 3});
  write("rank2.12.live", {5, 3, 9, 0, 7, 1});
  EXPECT_FALSE(read());
  EXPECT_FALSE(read_program_progress(folder_.path() / "gone"));
}

}  // namespace
}  // namespace ddbench::experiment
