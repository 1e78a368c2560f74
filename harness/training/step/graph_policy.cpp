#include "harness/training/step/graph_policy.h"

#include <fmt/format.h>

namespace ddbench::ddp {

std::string why_no_graph(const RunCase& run_case, bool resumed) {
  if (run_case.cuda_graph == CudaGraphs::kOff) return "asked for";
  if (run_case.strategy != "ddp") {
    return fmt::format("the hosts of strategy {} work in the middle of a step", run_case.strategy);
  }
  if (run_case.target_loss > 0) return "--target-loss exchanges losses between ranks inside the step";
  if (!resumed && run_case.warmup <= static_cast<int>(kStepsBeforeCapture)) {
    return fmt::format("it is captured in warm-up step {}, and there are {} (--warmup)",
                       kStepsBeforeCapture + 1, run_case.warmup);
  }
  return {};
}

}  // namespace ddbench::ddp
