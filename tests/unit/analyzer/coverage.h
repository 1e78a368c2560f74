#pragma once

#include <cmath>
#include <random>

#include "core/measured.h"

namespace ddbench::test {

/// Counts how often intervals hold the truth.
class Coverage {
 public:
  void add(const ConfidenceInterval& interval, double truth) {
    ++total_;
    held_ += interval.low <= truth && truth <= interval.high;
  }
  void add_miss() { ++total_; }

  double share() const { return static_cast<double>(held_) / static_cast<double>(total_); }
  /// Three standard errors of a share of 0.95.
  double tolerance() const { return 3 * std::sqrt(0.95 * 0.05 / static_cast<double>(total_)); }

 private:
  int held_ = 0;
  int total_ = 0;
};

/// value * exp(spread * normal): errors that are so many percent.
inline double noisy(double value, double spread, std::mt19937_64& random) {
  return value * std::exp(spread * std::normal_distribution<double>()(random));
}

}  // namespace ddbench::test
