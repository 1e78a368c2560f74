#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ddbench/record/clock.h"
#include "ddbench/store/records.h"

namespace ddbench::analyzer {

/// The clocks of a run's ranks on one time line. Ranks are counted by their place in the run's rank rows.
class ClockAlignment {
 public:
  explicit ClockAlignment(std::span<const store::RankRecord> ranks);

  /// False without ranks, and when any rank's clock was never compared with the others: times of different
  /// ranks say nothing then.
  bool known() const noexcept { return known_; }
  std::int64_t to_reference(std::size_t rank, std::int64_t local_ns) const {
    return clocks_[rank].to_reference(local_ns);
  }
  /// Inverse of to_reference, to the nanosecond unless the clock drifts by more than 1000 ppm.
  std::int64_t to_local(std::size_t rank, std::int64_t reference_ns) const;
  /// Of a time difference between two ranks; 0 for a rank with itself.
  std::int64_t uncertainty_ns(std::size_t rank, std::size_t other) const;
  /// Of the two ranks that are known worst.
  std::int64_t worst_uncertainty_ns() const;

 private:
  std::vector<ClockMap> clocks_;
  bool known_;
};

}  // namespace ddbench::analyzer
