#include "harness/training/step/graph_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace ddbench::ddp {
namespace {

// Their collectives in backward are work of the queue, and what follows comes after backward.
constexpr std::array<std::string_view, 4> kCaptured{"ddp", "zero1", "zero2", "mirrored"};

}  // namespace

std::string why_no_graph(const RunCase& run_case) {
  if (run_case.cuda_graph == CudaGraphs::kOff) return "asked for";
  if (std::find(kCaptured.begin(), kCaptured.end(), run_case.strategy) == kCaptured.end()) {
    return fmt::format("the hosts of strategy {} work in the middle of a step", run_case.strategy);
  }
  if (run_case.target_loss > 0) return "--target-loss exchanges losses between ranks inside the step";
  if (run_case.warmup <= static_cast<int>(kStepsBeforeCapture)) {
    return fmt::format("it is captured in warm-up step {}, and there are {} (--warmup)",
                       kStepsBeforeCapture + 1, run_case.warmup);
  }
  return {};
}

}  // namespace ddbench::ddp
