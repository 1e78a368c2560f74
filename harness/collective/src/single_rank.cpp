#include "single_rank.h"

#include <fmt/format.h>

#include "ddbench/record/error.h"

namespace ddbench::collective {

void SingleRank::throw_if_aborted(const char* function) const {
  if (aborted_)
    throw Error(ErrorCode::kRunFailed, fmt::format("{} failed on rank 0: aborted", function), 0, function);
}

void SingleRank::all_reduce_sum(std::span<float>) {
  throw_if_aborted("all_reduce");
}

void SingleRank::broadcast(std::span<float>, int root) {
  throw_if_aborted("broadcast");
  if (root != 0)
    throw Error(ErrorCode::kBadInput, fmt::format("broadcast: root {} is not a rank of a world of 1", root));
}

void SingleRank::barrier() {
  throw_if_aborted("barrier");
}

}  // namespace ddbench::collective
