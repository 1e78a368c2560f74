#pragma once

#include <string_view>

#include "core/text/number.h"

namespace ddbench::gpu {

/// By which a rank knows its number on its machine; whoever starts ranks sets it, as torchrun does.
inline constexpr const char* kLocalRankVariable = "LOCAL_RANK";

/// The GPU of a rank, among `count` that its process may use: its number on its machine, modulo `count`.
/// Ranks need not be numbered machine by machine, nor machines have equally many. `local_rank` is the
/// variable's text; null or no number from 0 on: the rank's own number counts.
inline int gpu_of_rank(int rank, const char* local_rank, int count) noexcept {
  const auto local =
      number_from<int>(local_rank != nullptr ? std::string_view(local_rank) : std::string_view());
  return (local && *local >= 0 ? *local : rank) % count;
}

}  // namespace ddbench::gpu
