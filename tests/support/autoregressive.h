#pragma once

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace ddbench::test {

/// A stationary AR(1) series of mean 0 and variance 1.
inline std::vector<double> autoregressive(std::size_t length, double coefficient, std::mt19937_64& random) {
  std::normal_distribution<double> noise;
  std::vector<double> values(length);
  double state = noise(random);
  for (double& value : values) {
    value = state;
    state = coefficient * state + std::sqrt(1 - coefficient * coefficient) * noise(random);
  }
  return values;
}

/// Step times about 10 ms that scatter by 5%, autocorrelated.
inline std::vector<double> autoregressive_steps_ns(std::size_t length, double coefficient,
                                                   std::mt19937_64& random) {
  std::vector<double> steps_ns = autoregressive(length, coefficient, random);
  for (double& step : steps_ns) step = 10e6 * (1 + 0.05 * step);
  return steps_ns;
}
inline constexpr double kTrueStep_ns = 10e6;

}  // namespace ddbench::test
