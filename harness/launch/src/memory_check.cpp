#include "ddbench/launch/memory_check.h"

#include <fmt/format.h>

#include "ddbench/record/error.h"

namespace ddbench::launch {

void check_memory(const RunCase& run_case, std::int64_t available_bytes, std::int64_t per_rank_bytes) {
  if (per_rank_bytes <= 0) return;
  const std::int64_t fitting = available_bytes / per_rank_bytes;
  if (run_case.world_size() <= fitting) return;
  const auto gigabytes = [](std::int64_t bytes) { return static_cast<double>(bytes) / 1e9; };
  const std::string advice =
      fitting >= 1
          ? fmt::format("the largest world size that fits is {}: lower --nodes, --gpus or the batch", fitting)
          : std::string("not even one rank fits: lower the batch or the size of the model");
  throw Error(
      ErrorCode::kEnvironment,
      fmt::format("{} ranks need {:.1f} GB of memory ({:.2f} GB each), but only {:.1f} GB are available; {}",
                  run_case.world_size(), gigabytes(per_rank_bytes) * run_case.world_size(),
                  gigabytes(per_rank_bytes), gigabytes(available_bytes), advice),
      0, "memory");
}

}  // namespace ddbench::launch
