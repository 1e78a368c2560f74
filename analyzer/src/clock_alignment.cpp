#include "clock_alignment.h"

#include <algorithm>
#include <functional>

namespace ddbench::analyzer {

ClockAlignment::ClockAlignment(std::span<const store::RankRecord> ranks) : known_(!ranks.empty()) {
  for (const store::RankRecord& rank : ranks) {
    const bool compared = rank.clock.shared_clock || rank.clock.start.at_ns != 0 || rank.clock.end.at_ns != 0;
    known_ = known_ && (compared || ranks.size() == 1);
    clocks_.push_back(rank.clock);
  }
}

std::int64_t ClockAlignment::to_local(std::size_t rank, std::int64_t reference_ns) const {
  // The offset varies by parts per million: each round makes the error that much smaller.
  std::int64_t local_ns = reference_ns;
  for (int round = 0; round < 4; ++round) local_ns += reference_ns - to_reference(rank, local_ns);
  return local_ns;
}

std::int64_t ClockAlignment::uncertainty_ns(std::size_t rank, std::size_t other) const {
  return rank == other ? 0 : clocks_[rank].uncertainty_ns() + clocks_[other].uncertainty_ns();
}

std::int64_t ClockAlignment::worst_uncertainty_ns() const {
  std::vector<std::int64_t> uncertainties;
  for (const ClockMap& clock : clocks_) uncertainties.push_back(clock.uncertainty_ns());
  if (uncertainties.size() < 2) return 0;
  std::partial_sort(uncertainties.begin(), uncertainties.begin() + 2, uncertainties.end(), std::greater<>());
  return uncertainties[0] + uncertainties[1];
}

}  // namespace ddbench::analyzer
