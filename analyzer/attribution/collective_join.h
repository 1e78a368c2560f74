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

/// The collectives around a range of steps, joined across ranks by Span::correlation: add every rank, join(),
/// then ask. Those that need every rank's data also bound the clocks (CausalClocks). One that not all members of its communicator recorded is not joined. Totals are those of the
/// collectives marked with a step of the range; the others serve spans that reach into it.
class CollectiveJoin {
 public:
  CollectiveJoin(const ClockAlignment& readings, CommunicatorMembers& members, StepRange range)
      : readings_(readings), clocks_(readings), members_(members), range_(range) {}

  /// A span whose name id is not in `names` (a damaged or cut-off spool) is of the function "unknown".
  void add_rank(std::size_t rank, std::span<const Span> spans, std::span<const std::string> names);

  void join();

  /// For partition_step on this rank's spans, on its clock. Leaves out waits below the clocks' uncertainty.
  LastArrivals last_arrivals(std::size_t rank, std::span<const Span> spans) const;
  /// How uncertain the peer wait of a rank is in each step of the range: the sum over its collectives.
  std::map<std::uint32_t, std::int64_t> wait_uncertainties_ns(std::size_t rank) const;
  void add_totals(CollectiveTotals& totals) const;
  void add_totals_of_rank(std::size_t rank, std::span<const Span> spans, CollectiveTotals& totals) const;
  /// Collectives that some rank recorded and that could not be joined.
  std::uint64_t incomplete() const;
  /// CausalClocks::contradictions
  std::uint64_t contradictions() const noexcept { return clocks_.contradictions(); }

 private:
  struct Entry {
    CollectiveKind kind;
    std::uint32_t step = kNoStep;
    std::vector<Attendance> ranks;
    // By join():
    std::int64_t second = 0;           ///< CausalClocks::second_of
    std::size_t last_rank = 0;         ///< the one that arrived last
    std::int64_t last_arrival_ns = 0;  ///< on the reference clock
    std::int64_t transfer_ns = 0;
    std::int64_t transfer_uncertainty_ns = 0;
  };

  const Entry* find_joined(std::uint64_t correlation) const;
  bool joined(std::uint64_t correlation, const Entry& entry) const;
  /// Never negative, even if uncertain clocks suggest it.
  std::int64_t wait_ns(std::size_t rank, std::int64_t own_begin_ns, const Entry& entry) const;
  std::int64_t wait_uncertainty_ns(std::size_t rank, const Entry& entry) const;
  void find_last_arrival(Entry& entry) const;
  void measure_transfer(Entry& entry) const;

  const ClockAlignment& readings_;
  CausalClocks clocks_;
  CommunicatorMembers& members_;
  StepRange range_;
  std::unordered_map<std::uint64_t, Entry> entries_;
  std::uint64_t without_correlation_ = 0;
};

}  // namespace ddbench::analyzer
