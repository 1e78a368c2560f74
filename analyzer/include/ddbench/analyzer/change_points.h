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

/// E-divisive means (Matteson and James, "A nonparametric approach for multiple change point analysis of
/// multivariate data", 2014) with the Euclidean distance: splits the series where the energy statistic
/// between the two parts of a segment is largest, again and again, while a permutation test within the
/// segments calls the best split significant. Assumes independent values: a drifting series shows more change
/// points than it has. Same input, same output. O(n log n) a permutation. In order of index; empty for fewer
/// than 2 * least_segment values.
std::vector<ChangePoint> change_points(std::span<const double> values,
                                       const ChangePointOptions& options = {});

}  // namespace ddbench::analyzer
