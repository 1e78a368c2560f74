#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ddbench::reports {

/// Values in multiples of `quantum` > 0, rounded so that they sum to their rounded sum: the numbers in a
/// table add up.
std::vector<std::int64_t> rounded_to_sum(const std::vector<std::int64_t>& values, std::int64_t quantum);

/// Times in one unit with one number of decimals, "103.42 ms", so that the displayed parts sum to the
/// displayed total.
class TimeScale {
 public:
  /// Suits values up to `largest_ns`.
  explicit TimeScale(std::int64_t largest_ns);
  std::vector<std::string> show(const std::vector<std::int64_t>& values_ns, bool sign) const;
  std::string show_one(std::int64_t value_ns, bool sign) const;

 private:
  std::string text(std::int64_t quanta, bool sign) const;

  std::int64_t quantum_ns_ = 1;
  int decimals_ = 0;
  std::string unit_ = "ns";
};

/// Percentages of `total` with one decimal that sum to 100.0 when the values sum to `total`.
std::vector<std::string> shown_percents(const std::vector<std::int64_t>& values, std::int64_t total);

}  // namespace ddbench::reports
