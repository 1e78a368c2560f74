#include "harness/training/strategy/shards.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "harness/training/optimizer/bucket_plan.h"
#include "harness/training/optimizer/optimizer.h"

namespace ddbench::ddp {

std::int64_t padded(std::int64_t elements, std::int64_t ranks) {
  return (elements + ranks - 1) / ranks * ranks;
}

OwnPart own_part(std::int64_t first, std::int64_t elements, std::int64_t share, int rank) {
  return {std::max(first, rank * share), std::min(first + elements, (rank + 1) * share)};
}

std::int64_t padded_bytes(const RunCase& run_case, std::span<const std::int64_t> parameter_bytes) {
  std::int64_t total = 0;
  for (const Bucket& bucket :
       plan_buckets(parameter_bytes, run_case.first_bucket_bytes, run_case.bucket_bytes)) {
    std::int64_t bytes = 0;
    for (const std::size_t parameter : bucket) bytes += parameter_bytes[parameter];
    total += padded(bytes / std::int64_t{sizeof(float)}, run_case.world_size()) * std::int64_t{sizeof(float)};
  }
  return total;
}

std::int64_t owned_bytes(const RunCase& run_case, std::span<const std::int64_t> parameter_bytes, int rank) {
  std::int64_t owned = 0;
  for (const Bucket& bucket :
       plan_buckets(parameter_bytes, run_case.first_bucket_bytes, run_case.bucket_bytes)) {
    std::int64_t elements = 0;
    for (const std::size_t parameter : bucket)
      elements += parameter_bytes[parameter] / std::int64_t{sizeof(float)};
    const std::int64_t share = padded(elements, run_case.world_size()) / run_case.world_size();
    owned += std::clamp<std::int64_t>(elements - rank * share, 0, share) * std::int64_t{sizeof(float)};
  }
  return owned;
}

void check_shards(const RunCase& run_case) {
  if (!is_layerwise(run_case.optimizer)) return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("strategy {} cuts layers into shards, but optimizer {} needs whole layers. Use sgd "
                          "or adamw, or another strategy",
                          run_case.strategy, run_case.optimizer));
}

}  // namespace ddbench::ddp
