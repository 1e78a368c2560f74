#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/statistics/bounded_sample.h"
#include "core/run_case/records.h"

namespace ddbench::analyzer {

/// Collectives of one kind: same function, bucket, size and communicator.
struct CollectiveKind {
  std::string function;
  int bucket = -1;
  std::uint64_t bytes = 0;
  std::uint16_t communicator = 0;  ///< CommunicatorMembers::number_of
  friend auto operator<=>(const CollectiveKind&, const CollectiveKind&) = default;
};

/// Gathers the collective rows of a run.
class CollectiveTotals {
 public:
  void add_collective(const CollectiveKind& kind, std::int64_t transfer_ns,
                      std::int64_t uncertainty_ns);
  void add_share_of_rank(const CollectiveKind& kind, std::int64_t duration_ns, std::int64_t peer_wait_ns,
                         std::int64_t uncertainty_ns);
  /// Without it all waits are marked as not resolved.
  void set_clocks_known(bool known) noexcept { clocks_known_ = known; }

  /// Ordered by function, bucket, size, then communicator: the largest first. Each row has the communicator that
  /// `communicator_of` has for the kind's.
  std::vector<store::CollectiveRecord> records(
      const std::function<store::CommunicatorRecord(std::uint16_t)>& communicator_of) const;

 private:
  struct Totals {
    std::uint64_t count = 0;
    BoundedSample transfer_ns;
    BoundedSample transfer_uncertainty_ns;
    BoundedSample duration_ns;
    BoundedSample peer_wait_ns;
    BoundedSample uncertainty_ns;
  };

  std::map<CollectiveKind, Totals> totals_;
  bool clocks_known_ = true;
};

}  // namespace ddbench::analyzer
