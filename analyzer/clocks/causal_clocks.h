#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/clocks/clock_alignment.h"

namespace ddbench::analyzer {

/// One rank's part in a collective, on its own clock.
struct Attendance {
  std::size_t rank = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// Adds the evidence of collectives to the readings of clocks: a collective that all ranks need does not end
/// on any rank before its last rank has begun it. Each such pair of an end and a begin bounds the difference
/// of two clocks from one side. In each second of the run, the readings' uncertainty and all of these bound
/// the corrections of the ranks' clocks (a system of difference constraints); the middle of the remaining
/// range is used, which itself keeps every bound. Add collectives, call solve(), then query.
class CausalClocks {
 public:
  /// `readings` must outlive this.
  explicit CausalClocks(const ClockAlignment& readings) : readings_(readings) {}

  /// The second that a time of a rank lies in.
  std::int64_t second_of(std::size_t rank, std::int64_t local_ns) const;

  /// A collective in which every rank needs all others' data; `second` is that of one of its begins.
  void add(std::int64_t second, std::span<const Attendance> ranks);
  /// The same with every pair of ranks, for readings too uncertain to know which pairs give the tightest
  /// bounds.
  void add_all_pairs(std::int64_t second, std::span<const Attendance> ranks);
  void solve();

  /// On the common time line, corrected as in that second.
  std::int64_t to_reference(std::int64_t second, std::size_t rank, std::int64_t local_ns) const;
  /// Uncertainty of a time difference between two ranks in that second; 0 for a rank with itself.
  std::int64_t uncertainty_ns(std::int64_t second, std::size_t rank, std::size_t other) const;
  /// Seconds in which collectives contradict the readings: the uncertainty was widened until they agree.
  std::uint64_t contradictions() const noexcept { return contradictions_; }

 private:
  struct Range {
    std::int64_t low_ns = 0;
    std::int64_t high_ns = 0;
    std::int64_t middle_ns() const noexcept { return low_ns + (high_ns - low_ns) / 2; }
  };
  /// correction of `later` - correction of `earlier` is at most bound_ns
  struct Bound {
    std::uint32_t earlier = 0;
    std::uint32_t later = 0;
    std::int64_t bound_ns = 0;
    std::pair<std::uint32_t, std::uint32_t> ranks() const noexcept { return {earlier, later}; }
  };
  struct Second {
    std::int64_t at_ns = 0;  ///< of its first collective, on the reference clock
    std::vector<Bound> bounds;
    std::size_t tightest = 0;        ///< the first so many are in order, one for each pair of ranks
    std::vector<Range> corrections;  ///< by rank
  };

  Second& second_with(std::int64_t second, std::span<const Attendance> ranks);
  void bound(Second& second, const Attendance& ends, const Attendance& begins) const;
  static void keep_tightest(Second& second);
  static const Bound* find_bound(const Second& second, std::size_t earlier, std::size_t later);
  /// Narrows the corrections from the readings' uncertainty and `wider_ns`; returns false if no solution is
  /// left.
  bool fits(Second& second, std::int64_t wider_ns) const;

  const ClockAlignment& readings_;
  std::map<std::int64_t, Second> seconds_;
  std::uint64_t contradictions_ = 0;
};

}  // namespace ddbench::analyzer
