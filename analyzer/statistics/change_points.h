#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ddbench::analyzer {

struct ChangePointOptions {
  double significance = 0.01;     ///< of the permutation test, for each split
  int permutations = 999;         ///< at most; a split that is plainly noise stops early
  std::size_t least_segment = 3;  ///< values between two change points
  std::uint64_t seed = 20261121;
};

struct ChangePoint {
  std::size_t index = 0;  ///< of the first value after the change
  double p_value = 1;     ///< (permutations at least as extreme + 1) / (permutations + 1)
  double before = 0;      ///< median of the segment that ends here
  double after = 0;       ///< median of the segment that begins here
};

/// Changes of level of a series whose values resemble their neighbours. A change is placed where an AR(1)
/// process with one shift of its level explains a segment best (likelihood ratio, the coefficient fitted with
/// and without the shift), and kept when few series without a shift (the same process with permuted
/// innovations) gain as much. Then both sides are searched (binary segmentation). Autocorrelation alone is
/// not a change: bench_intervals prints the rate of such false alarms. Deterministic; O(n) per permutation.
/// In order of index; empty for fewer than 2 * least_segment values.
std::vector<ChangePoint> change_points(std::span<const double> values,
                                       const ChangePointOptions& options = {});

}  // namespace ddbench::analyzer
