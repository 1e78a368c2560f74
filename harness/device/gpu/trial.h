#pragma once

#include <cstddef>
#include <functional>

#include "harness/device/gpu/gpu.h"

namespace ddbench::gpu {

/// Of several algorithms of a library for one operation, finds the fastest by running each on one stream, which does
/// nothing else meanwhile.
class Trial {
 public:
  explicit Trial(cudaStream_t stream);

  /// Of the algorithms that a library proposes, how many are worth a trial: 8, or 1 where $DDBENCH_AUTOTUNE is 0.
  std::size_t most_algorithms() const noexcept { return most_algorithms_; }
  /// Nothing can be timed while the stream is captured into a graph.
  bool is_possible() const;
  /// The index of the fastest of `count` > 0 algorithms, the best first by the library's estimate: another one than the
  /// first only if it is faster by more than chance. `launch` queues the work of one; false where the library refuses.
  std::size_t fastest(std::size_t count, const std::function<bool(std::size_t)>& launch) const;

 private:
  float fastest_ms(std::size_t algorithm, const std::function<bool(std::size_t)>& launch) const;

  const cudaStream_t stream_;
  const std::size_t most_algorithms_;
  const Event begin_;
  const Event end_;
};

}  // namespace ddbench::gpu
