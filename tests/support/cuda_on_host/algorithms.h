#pragma once

#include <chrono>
#include <cstdlib>

namespace ddbench::cuda_on_host {

/// How many algorithms the libraries propose for an operation: one, unless a test wants a choice.
inline int proposed_algorithms() {
  const char* const wanted = std::getenv("DDBENCH_HOST_ALGORITHMS");
  return wanted == nullptr ? 1 : std::atoi(wanted);
}

inline constexpr int kFastAlgorithm = 1;

/// How much longer than need be an algorithm lasts: of several, one is fast.
inline std::chrono::milliseconds slowness_of(int algorithm) {
  return std::chrono::milliseconds(algorithm == kFastAlgorithm || proposed_algorithms() == 1 ? 0 : 5);
}

}  // namespace ddbench::cuda_on_host
