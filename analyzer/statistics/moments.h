#pragma once

#include <span>

namespace ddbench::analyzer {

struct RunMoments {
  double count = 0;
  double mean = 0;
  double squares = 0;   ///< sum of squared deviations from the mean
  double variance = 0;  ///< unbiased; 0 for fewer than 2 values
};

inline RunMoments run_moments(std::span<const double> values) {
  RunMoments moments;
  moments.count = static_cast<double>(values.size());
  if (values.empty()) return moments;
  for (const double value : values) moments.mean += value / moments.count;
  for (const double value : values) moments.squares += (value - moments.mean) * (value - moments.mean);
  if (values.size() > 1) moments.variance = moments.squares / (moments.count - 1);
  return moments;
}

}  // namespace ddbench::analyzer
