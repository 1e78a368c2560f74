// Which cases have their forward and backward captured as a CUDA graph, and why others have not.
#include "harness/training/step/graph_policy.h"

#include <gtest/gtest.h>

namespace ddbench::ddp {
namespace {

RunCase on_gpu() {
  RunCase run_case;
  run_case.device = "cuda";
  run_case.backend = "nccl";
  return run_case;
}

TEST(GraphPolicy, TheDefaultCaseIsCapturedAtEveryScale) {
  RunCase run_case = on_gpu();
  EXPECT_EQ(why_no_graph(run_case), "");
  run_case.nodes = 4;
  run_case.gpus_per_node = 8;
  run_case.accumulate = 4;
  run_case.precision = "fp16";
  EXPECT_EQ(why_no_graph(run_case), "");
  for (const char* const strategy : {"zero1", "zero2", "mirrored"}) {
    run_case.strategy = strategy;
    EXPECT_EQ(why_no_graph(run_case), "") << strategy;
  }
  EXPECT_EQ(why_no_graph(baseline_case(run_case)), "") << "or the efficiency would compare two things";
}

TEST(GraphPolicy, SaysWhyNot) {
  RunCase run_case = on_gpu();
  run_case.cuda_graph = CudaGraphs::kOff;
  EXPECT_EQ(why_no_graph(run_case), "asked for");
  run_case = on_gpu();
  run_case.strategy = "horovod";
  EXPECT_EQ(why_no_graph(run_case), "the hosts of strategy horovod work in the middle of a step");
  run_case = on_gpu();
  run_case.target_loss = 0.5;
  EXPECT_NE(why_no_graph(run_case).find("target-loss"), std::string::npos);
}

TEST(GraphPolicy, MeasuredStepsAreAllOfOneKind) {
  RunCase run_case = on_gpu();
  run_case.warmup = static_cast<int>(kStepsBeforeCapture);
  EXPECT_EQ(why_no_graph(run_case), "it is captured in warm-up step 5, and there are 4 (--warmup)");
  ++run_case.warmup;
  EXPECT_EQ(why_no_graph(run_case), "");
}

}  // namespace
}  // namespace ddbench::ddp
