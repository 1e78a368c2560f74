#include "analyzer/statistics/bounded_sample.h"

#include <algorithm>

namespace ddbench::analyzer {

void BoundedSample::add(std::int64_t value) {
  if (added_++ % stride_ != 0) return;
  if (values_.size() == kCapacity) {
    for (std::size_t i = 0; i < kCapacity / 2; ++i) values_[i] = values_[2 * i];
    values_.resize(kCapacity / 2);
    stride_ *= 2;
    // The value at hand is the kCapacity-th of the old stride: an even one, so it is kept.
  }
  values_.push_back(value);
}

std::int64_t BoundedSample::median() const {
  if (values_.empty()) return 0;
  std::vector<std::int64_t> values = values_;
  const auto upper = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), upper, values.end());
  if (values.size() % 2 == 1) return *upper;
  const std::int64_t lower = *std::max_element(values.begin(), upper);
  return lower + (*upper - lower) / 2;
}

}  // namespace ddbench::analyzer
