#include "harness/microbench/plan.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "harness/microbench/micro.h"

namespace ddbench::micro {
namespace {

using analyzer::MicroOperation;

RunCase micro_case(int ranks, std::map<std::string, std::string> options = {}) {
  RunCase run_case;
  run_case.work = Microbenchmark{std::move(options)};
  run_case.gpus_per_node = ranks;
  return run_case;
}

std::string complaint(const RunCase& run_case) {
  try {
    plan_measurements(run_case);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    return error.message();
  }
  return "";
}

std::vector<std::int64_t> sizes(const RunCase& run_case, bool in_place) {
  std::vector<std::int64_t> bytes;
  for (const Measurement& measurement : plan_measurements(run_case)) {
    if (measurement.in_place == in_place) bytes.push_back(bytes_of(measurement, run_case.world_size()));
  }
  return bytes;
}

TEST(Plan, HasEverySizeInAndOutOfPlace) {
  const RunCase run_case =
      micro_case(4, {{"operations", "all_reduce"}, {"min_bytes", "8"}, {"max_bytes", "64"}, {"factor", "2"}});
  EXPECT_EQ(sizes(run_case, false), (std::vector<std::int64_t>{8, 16, 32, 64}));
  EXPECT_EQ(sizes(run_case, true), (std::vector<std::int64_t>{8, 16, 32, 64}));
}

TEST(Plan, ChunksAreWholeAndNoSizeComesTwice) {
  // Three ranks: chunks of 4 bytes, so sizes are multiples of 12; 8 bytes are too few.
  const RunCase run_case = micro_case(
      3, {{"operations", "all_to_all"}, {"min_bytes", "8"}, {"max_bytes", "64"}, {"factor", "1.5"}});
  EXPECT_EQ(sizes(run_case, false), (std::vector<std::int64_t>{12, 24, 36, 60}));
  EXPECT_TRUE(sizes(run_case, true).empty()) << "all_to_all has no way in place";
}

TEST(Plan, OneRankHasCeilingsOnly) {
  for (const Measurement& measurement : plan_measurements(micro_case(1)))
    EXPECT_FALSE(is_collective(measurement.operation));
  EXPECT_NE(complaint(micro_case(1, {{"operations", "all_reduce"}})).find("one rank"), std::string::npos);
}

TEST(Plan, RefusesWhatCannotBeMeasured) {
  const auto named = [](const char* option, const char* value, const char* word) {
    const std::string text = complaint(micro_case(2, {{option, value}}));
    EXPECT_NE(text.find(value), std::string::npos) << text;
    EXPECT_NE(text.find(word), std::string::npos) << text;
  };
  named("operations", "gather", "all_gather");
  named("min_bytes", "2", "min_bytes");
  named("min_bytes", "eight", "min_bytes");
  EXPECT_NE(complaint(micro_case(2, {{"max_bytes", "2G"}})).find("1073741824"), std::string::npos);
}

TEST(Plan, RefusesFactorsThatDoNotGrow) {
  for (const char* factor : {"1", "0.5", "-2", "nan", "inf", "", "2x"}) {
    const std::string text = complaint(micro_case(2, {{"factor", factor}}));
    EXPECT_NE(text.find("factor"), std::string::npos) << factor << ": " << text;
  }
  EXPECT_NE(complaint(micro_case(2, {{"colour", "red"}})).find("colour"), std::string::npos);
  EXPECT_NE(complaint(micro_case(64, {{"max_bytes", "128"}, {"operations", "all_gather"}})).find("64 ranks"),
            std::string::npos);
}

TEST(Plan, BytesAreReadAsNcclTestsReadThem) {
  EXPECT_EQ(parse_bytes("8", "-b"), 8);
  EXPECT_EQ(parse_bytes("64K", "-b"), 64 << 10);
  EXPECT_EQ(parse_bytes("3m", "-b"), 3 << 20);
  EXPECT_EQ(parse_bytes("1G", "-b"), 1 << 30);
  for (const char* text : {"", "K", "-1", "1.5M", "1T", "9999999999999999999", "1 K"})
    EXPECT_THROW(parse_bytes(text, "-b"), Error) << text;
}

TEST(Plan, MemoryIsThatOfTwoBuffers) {
  const RunCase small = micro_case(2, {{"operations", "all_reduce"}, {"max_bytes", "1M"}});
  const RunCase large = micro_case(2, {{"operations", "all_reduce"}, {"max_bytes", "1G"}});
  EXPECT_EQ(memory_per_rank_bytes(large) - memory_per_rank_bytes(small), 2 * ((1 << 30) - (1 << 20)));
  EXPECT_EQ(usual_max_bytes(std::int64_t{1} << 40, 4), 64 << 20);
  EXPECT_LT(usual_max_bytes(std::int64_t{512} << 20, 4), 64 << 20);
  EXPECT_GE(usual_max_bytes(1, 4), 8);
}

TEST(Plan, ShortMemoryLimitsASizeThatNobodyStated) {
  const std::int64_t much = std::int64_t{1} << 40, little = std::int64_t{512} << 20;
  const RunCase usual = micro_case(4), stated = micro_case(4, {{"max_bytes", "64M"}});
  RunCase run_case = usual;
  limit_max_bytes(run_case, much);
  EXPECT_EQ(run_case, usual) << "the key of its case, too, is that of sweeps on machines with more";
  limit_max_bytes(run_case, little);
  EXPECT_EQ(micro_options(run_case).max_bytes, usual_max_bytes(little, 4));
  run_case = stated;
  limit_max_bytes(run_case, little);
  EXPECT_EQ(run_case, stated);
}

}  // namespace
}  // namespace ddbench::micro
