#include "harness/launch/machine/memory_check.h"

#include <fmt/format.h>

#include "core/error.h"

namespace ddbench::launch {

namespace {

// What a world needs grows with it, though not in proportion: a larger one has connections, or shards.
int largest_world(const RunCase& run_case, std::int64_t available_bytes, const BytesPerRank& bytes_per_rank) {
  int fits = 0;
  int too_large = run_case.world_size();
  while (too_large - fits > 1) {
    RunCase smaller = run_case;
    smaller.nodes = 1;
    smaller.gpus_per_node = fits + (too_large - fits) / 2;
    (bytes_per_rank(smaller) <= available_bytes / smaller.gpus_per_node ? fits : too_large) =
        smaller.gpus_per_node;
  }
  return fits;
}

}  // namespace

void check_memory(const RunCase& run_case, std::int64_t available_bytes, const BytesPerRank& bytes_per_rank,
                  const WaysToFit& ways_to_fit) {
  const std::int64_t each = bytes_per_rank(run_case);
  if (each <= available_bytes / run_case.world_size()) return;
  const int fitting = largest_world(run_case, available_bytes, bytes_per_rank);
  const auto gigabytes = [](std::int64_t bytes) { return static_cast<double>(bytes) / 1e9; };
  const double all = gigabytes(each) * run_case.world_size();
  const std::string advice =
      fitting >= 1
          ? fmt::format("the largest world size that fits is {}: lower --nodes, --gpus or the batch", fitting)
          : std::string("not even one rank fits: lower the batch or the size of the model");
  std::string ways;
  for (const std::string& way : ways_to_fit ? ways_to_fit(run_case, available_bytes / run_case.world_size())
                                            : std::vector<std::string>{})
    ways += (ways.empty() ? "; what fits as well: " : ", ") + way;
  throw Error(
      ErrorCode::kEnvironment,
      fmt::format("{} ranks need {:.1f} GB of memory ({:.2f} GB each), but only {:.1f} GB are available; {}{}",
                  run_case.world_size(), all, gigabytes(each), gigabytes(available_bytes), advice, ways),
      0, "memory");
}

}  // namespace ddbench::launch
