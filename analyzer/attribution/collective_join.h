#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/clocks/causal_clocks.h"
#include "analyzer/attribution/collective_totals.h"
#include "analyzer/attribution/communicators.h"
#include "analyzer/attribution/partition.h"
#include "analyzer/attribution/step_range.h"

namespace ddbench::analyzer {

/// Whether no rank can end a collective of this function before every rank has begun: each needs all others' data.
bool needs_all_ranks(std::string_view function);

/// One rank's part in a collective, on its own clock.
struct CollectivePart {
  std::uint64_t correlation = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t bytes = 0;
  std::uint32_t name_id = 0;
  std::uint32_t step = kNoStep;
  std::uint16_t bucket = kNoBucket;
};

/// A rank's collectives, in order of their keys.
struct OwnCollectives {
  std::vector<CollectivePart> parts;
  std::uint64_t without_correlation = 0;  ///< in the range
};

/// Several spans of one collective (host and device side) are one part: bytes, name, step and bucket are those of the first.
OwnCollectives own_collectives(std::span<const Span> spans, StepRange range);

/// The collectives around a range of steps, joined across ranks by Span::correlation: add every rank in order, join(),
/// then ask, from any thread. Those that need every rank's data also bound the clocks (CausalClocks). One that not all members of its communicator recorded is not joined. Totals are those of the
/// collectives marked with a step of the range; the others serve spans that reach into it.
class CollectiveJoin {
 public:
  CollectiveJoin(const ClockAlignment& readings, CommunicatorMembers& members, StepRange range)
      : readings_(readings), clocks_(readings), members_(members), range_(range), places_(readings.ranks()) {}

  /// A part whose name id is not in `names` (a damaged or cut-off spool) is of the function "unknown".
  void add_rank(std::size_t rank, const OwnCollectives& own, std::span<const std::string> names);
  /// Of all ranks so far.
  std::size_t parts() const noexcept { return parts_; }

  /// On up to `threads` threads.
  void join(std::size_t threads);

  /// For partition_step on this rank's spans, on its clock. Leaves out waits below the clocks' uncertainty.
  LastArrivals last_arrivals(std::size_t rank) const;
  /// How uncertain the peer wait of a rank is in each step of the range: the sum over its collectives.
  std::map<std::uint32_t, std::int64_t> wait_uncertainties_ns(std::size_t rank) const;
  void add_totals(CollectiveTotals& totals) const;
  void add_totals_of_rank(std::size_t rank, CollectiveTotals& totals) const;
  /// Collectives that some rank recorded and that could not be joined.
  std::uint64_t incomplete() const;
  /// CausalClocks::contradictions
  std::uint64_t contradictions() const noexcept { return clocks_.contradictions(); }

 private:
  /// How long a rank waited for the last one; never negative, even if uncertain clocks suggest it.
  struct Wait {
    std::int64_t wait_ns = 0;
    std::int64_t uncertainty_ns = 0;
  };
  struct Entry {
    CollectiveKind kind;
    std::uint64_t correlation = 0;
    std::uint32_t step = kNoStep;
    std::vector<Attendance> ranks;
    // By join():
    bool joined = false;
    std::vector<Wait> waits;           ///< of each of `ranks`
    std::int64_t second = 0;           ///< CausalClocks::second_of
    std::size_t last_rank = 0;         ///< the one that arrived last
    std::int64_t last_arrival_ns = 0;  ///< on the reference clock
    std::int64_t transfer_ns = 0;
    std::int64_t transfer_uncertainty_ns = 0;
  };

  /// A rank's place in an entry.
  struct Place {
    std::size_t entry = 0;
    std::size_t in_ranks = 0;
  };

  Entry& entry_of(const CollectivePart& part, std::span<const std::string> names);
  void find_last_arrival(Entry& entry) const;
  void measure_waits(Entry& entry) const;
  void measure_transfer(Entry& entry) const;
  /// Calls visit(entry, attendance, wait) for the joined collectives of a rank.
  template <typename Visit>
  void visit_joined(std::size_t rank, const Visit& visit) const;

  const ClockAlignment& readings_;
  CausalClocks clocks_;
  CommunicatorMembers& members_;
  StepRange range_;
  std::vector<Entry> entries_;                              ///< in the order in which they were added
  std::unordered_map<std::uint64_t, std::size_t> by_key_;  ///< places in entries_
  std::vector<std::vector<Place>> places_;                 ///< by rank
  std::size_t parts_ = 0;
  std::uint64_t without_correlation_ = 0;
};

}  // namespace ddbench::analyzer
