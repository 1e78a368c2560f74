#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/clock.h"
#include "core/run_case/records.h"

namespace ddbench::analyzer {

/// The clocks of a run's ranks on one time line. Ranks are counted by their place in the run's rank rows.
class ClockAlignment {
 public:
  explicit ClockAlignment(std::span<const store::RankRecord> ranks);

  /// False without ranks, and when any rank's clock was never compared with the others: times of different
  /// ranks are then not comparable.
  bool known() const noexcept { return known_; }
  std::int64_t to_reference(std::size_t rank, std::int64_t local_ns) const {
    return clocks_[rank].to_reference(local_ns);
  }
  /// Inverse of to_reference, to the nanosecond unless the clock drifts by more than 1000 ppm.
  std::int64_t to_local(std::size_t rank, std::int64_t reference_ns) const;
  std::size_t ranks() const noexcept { return clocks_.size(); }
  /// All ranks have one clock: no uncertainty.
  bool is_exact() const noexcept { return exact_; }
  /// Uncertainty of a rank's time on the reference clock, at that time.
  std::int64_t uncertainty_at_reference_ns(std::size_t rank, std::int64_t reference_ns) const {
    return clocks_[rank].uncertainty_at_ns(to_local(rank, reference_ns));
  }
  /// Uncertainty of a time difference between two ranks at that time; 0 for a rank with itself.
  std::int64_t uncertainty_ns(std::size_t rank, std::size_t other, std::int64_t reference_ns) const;

 private:
  std::vector<ClockMap> clocks_;
  bool known_;
  bool exact_ = true;
};

}  // namespace ddbench::analyzer
