#include <fmt/format.h>

#include <numeric>
#include <vector>

#include "core/error.h"
#include "harness/model/architectures/registry.h"
#include "harness/training/data/loader.h"
#include "harness/training/footprint.h"
#include "harness/training/optimizer/optimizer.h"
#include "harness/training/optimizer/parameters.h"
#include "harness/training/strategy/strategies.h"
#include "harness/training/train.h"

namespace ddbench::ddp {
namespace {

// Peak resident size of a rank of `mlp` with one hidden unit, 19 to 21 MiB (executable, oneDNN, Gloo, OpenMP,
// the recorder's rings), what sgemm packs matrices into, up to 6 MiB, and what oneDNN's convolutions compile
// and reorder, up to 13 MiB for resnet50.
constexpr std::int64_t kProcessBytes = std::int64_t{40} << 20;
// The driver's, cuBLASLt's, cuDNN's and NCCL's code and tables: an estimate from their files.
constexpr std::int64_t kCudaProcessBytes = std::int64_t{2} << 30;
// The kernel's buffers: Gloo's ring keeps two segments of up to 1 MiB in flight each way, to one neighbour
// and from the other.
constexpr std::int64_t kRingSocketsBytes = std::int64_t{8} << 20;

std::int64_t gathered_values_bytes(const RunCase& run_case) {
  const auto workload = workload::make_workload(run_case);
  const std::vector<std::int64_t> bytes = bytes_of(workload->parameters());
  return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

}  // namespace

void check_supported(const RunCase& run_case) {
  if (run_case.batch_per_gpu / run_case.accumulate > kLargestMicroBatch) {
    throw Error(ErrorCode::kBadInput, fmt::format("batch-per-gpu is {}, but the engine computes at most {} samples at a time (--accumulate)",
                                                  run_case.batch_per_gpu, kLargestMicroBatch));
  }
  workload::activation_type(run_case.precision);
  check_optimizer(run_case.optimizer);
  check_strategy(run_case);
  workload::make_workload(run_case);
}

std::int64_t memory_per_rank_bytes(const RunCase& run_case) {
  check_supported(run_case);
  if (run_case.on_gpus()) {  // the rest is the GPU's, which refuses what it cannot hold
    const auto workload = workload::make_workload(run_case);
    return kCudaProcessBytes + Loader::memory_bytes(run_case, workload->sample()) + offloaded_footprint(run_case);
  }
  const std::int64_t sockets_bytes = run_case.world_size() > 1 ? kRingSocketsBytes : 0;
  // Rank 0 gathers the values of a checkpoint: counted in equal parts for the ranks of its node.
  const bool gathers = run_case.checkpoint_every > 0 && strategy_info(run_case.strategy).shards_parameters;
  const std::int64_t gathered_bytes = gathers ? gathered_values_bytes(run_case) / run_case.gpus_per_node : 0;
  return kProcessBytes + sockets_bytes + gathered_bytes + largest_footprint(run_case).total() + offloaded_footprint(run_case);
}

StrategyTraffic strategy_traffic(const RunCase& run_case) {
  check_supported(run_case);
  const auto workload = workload::make_workload(run_case);
  return strategy_info(run_case.strategy).traffic(run_case, bytes_of(workload->parameters()));
}

}  // namespace ddbench::ddp
