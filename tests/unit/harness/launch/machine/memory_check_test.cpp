#include "harness/launch/machine/memory_check.h"

#include <gtest/gtest.h>

#include "expect_error.h"

namespace ddbench::launch {
namespace {

using test::message_of;

RunCase sixteen_ranks() {
  RunCase run_case;
  run_case.nodes = 4;
  run_case.gpus_per_node = 4;
  return run_case;
}

BytesPerRank each(std::int64_t bytes) {
  return [bytes](const RunCase&) { return bytes; };
}

TEST(MemoryCheck, AllowsWhatFitsExactly) {
  EXPECT_NO_THROW(check_memory(sixteen_ranks(), 16'000'000'000, each(1'000'000'000)));
}

TEST(MemoryCheck, RefusesOneByteLessWithFiguresAndTheLargestWorld) {
  const std::string message = message_of(
      ErrorCode::kEnvironment, [] { check_memory(sixteen_ranks(), 15'999'999'999, each(1'000'000'000)); });
  EXPECT_NE(message.find("16 ranks need 16.0 GB"), std::string::npos) << message;
  EXPECT_NE(message.find("largest world size that fits is 15"), std::string::npos) << message;
}

TEST(MemoryCheck, TheLargestWorldIsFoundByWhatThatWorldNeeds) {
  // 1 GB a rank, and as much again for the connections of 16 ranks: 11 * (1 + 11/16) is below 20, 12 * ... is
  // above.
  const BytesPerRank grows = [](const RunCase& c) {
    return 1'000'000'000 + c.world_size() * std::int64_t{62'500'000};
  };
  const std::string message =
      message_of(ErrorCode::kEnvironment, [&] { check_memory(sixteen_ranks(), 20'000'000'000, grows); });
  EXPECT_NE(message.find("16 ranks need 32.0 GB"), std::string::npos) << message;
  EXPECT_NE(message.find("largest world size that fits is 11"), std::string::npos) << message;
}

TEST(MemoryCheck, SaysWhenNotEvenOneRankFits) {
  const std::string message =
      message_of(ErrorCode::kEnvironment, [] { check_memory(RunCase(), 1'000'000, each(2'000'000'000)); });
  EXPECT_NE(message.find("not even one rank"), std::string::npos) << message;
}

}  // namespace
}  // namespace ddbench::launch
