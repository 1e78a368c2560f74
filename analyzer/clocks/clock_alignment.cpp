#include "analyzer/clocks/clock_alignment.h"

namespace ddbench::analyzer {

ClockAlignment::ClockAlignment(std::span<const store::RankRecord> ranks) : known_(!ranks.empty()) {
  for (const store::RankRecord& rank : ranks) {
    const bool compared = rank.clock.shared_clock || rank.clock.start.at_ns != 0 || rank.clock.end.at_ns != 0;
    known_ = known_ && (compared || ranks.size() == 1);
    exact_ = exact_ && rank.clock.uncertainty_ns() == 0;
    clocks_.push_back(rank.clock);
  }
}

std::int64_t ClockAlignment::to_local(std::size_t rank, std::int64_t reference_ns) const {
  // The offset varies by parts per million: each round makes the error that much smaller.
  std::int64_t local_ns = reference_ns;
  for (int round = 0; round < 4; ++round) local_ns += reference_ns - to_reference(rank, local_ns);
  return local_ns;
}

std::int64_t ClockAlignment::uncertainty_ns(std::size_t rank, std::size_t other,
                                            std::int64_t reference_ns) const {
  if (rank == other) return 0;
  return uncertainty_at_reference_ns(rank, reference_ns) + uncertainty_at_reference_ns(other, reference_ns);
}

}  // namespace ddbench::analyzer
