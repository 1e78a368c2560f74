#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analyzer/clocks/clock_alignment.h"
#include "analyzer/attribution/collective_join.h"
#include "core/span.h"

namespace ddbench::analyzer {

/// The latest arrival, and the latest arrival of any other member; members are distinguished by a number.
class LatestTwo {
 public:
  void add(std::size_t member, std::int64_t arrival_ns) noexcept;
  std::size_t latest() const noexcept { return latest_; }
  std::int64_t latest_ns() const noexcept { return latest_ns_; }
  bool has_second() const noexcept { return has_second_; }
  std::size_t second() const noexcept { return second_; }
  std::int64_t second_ns() const noexcept { return second_ns_; }

 private:
  bool has_latest_ = false;
  bool has_second_ = false;
  std::size_t latest_ = 0;
  std::size_t second_ = 0;
  std::int64_t latest_ns_ = 0;
  std::int64_t second_ns_ = 0;
};

/// The arrivals at one collective, on the reference clock.
struct CollectiveArrivals {
  std::uint32_t step = kNoStep;
  std::size_t ranks = 0;
  std::int64_t first_ns = 0;  ///< of the rank that was added first: arrivals are summed from here
  double after_first_ns = 0;  ///< sum over ranks of arrival - first_ns
  LatestTwo by_rank;
  LatestTwo by_node;

  /// Sum over ranks of the wait for the last one.
  double total_wait_ns() const noexcept {
    return static_cast<double>(ranks) * static_cast<double>(by_rank.latest_ns() - first_ns) - after_first_ns;
  }
};

/// Adds the collectives that a rank recorded in `spans` to those of other ranks.
void add_arrivals(std::size_t rank, std::size_t node, std::span<const Span> spans,
                  const ClockAlignment& clocks, CommunicatorMembers& members,
                  std::unordered_map<std::uint64_t, CollectiveArrivals>& collectives);

}  // namespace ddbench::analyzer
