#include "harness/training/injected_faults.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace ddbench::ddp {
namespace {

TEST(FaultPlan, ReadsWhatAndWhoAndWhen) {
  const FaultPlan plan = fault_plan("paced=3ms,operator=2ms,data=7ms,host=1ms,moving=4ms,everywhere=6ms,link=100mbit,node=2,rank=5,from=40");
  EXPECT_EQ(plan.paced, std::chrono::milliseconds(3));
  EXPECT_EQ(plan.op, std::chrono::milliseconds(2));
  EXPECT_EQ(plan.data, std::chrono::milliseconds(7));
  EXPECT_EQ(plan.host, std::chrono::milliseconds(1));
  EXPECT_EQ(plan.moving, std::chrono::milliseconds(4));
  EXPECT_EQ(plan.everywhere, std::chrono::milliseconds(6));
  EXPECT_EQ(plan.link, "100mbit");
  EXPECT_EQ(plan.node, 2);
  EXPECT_EQ(plan.rank, 5);
  EXPECT_EQ(plan.from, 40U);
  EXPECT_EQ(fault_plan("").rank, -1);
}

TEST(FaultPlan, RefusesWhatItCannotRead) {
  for (const char* text : {"speed=1ms", "paced=3s", "paced=3", "paced=ms", "paced", "rank=x", "rank=-1", "from=", "data=99999999ms",
                           "data=60001ms", "rank=1,,from=2"}) {
    try {
      fault_plan(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadInput);
      EXPECT_NE(error.message().find("DDBENCH_INJECT"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace ddbench::ddp
