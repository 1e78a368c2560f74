#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "analyzer/predict/step_recording.h"
#include "core/span.h"

namespace ddbench::analyzer {

/// A collective of one rank's step, on the rank's own clock.
struct RankCollective {
  std::uint64_t correlation = 0;
  std::string function;
  double bytes = 0;
  int bucket = -1;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t ready_ns = 0;  ///< when the main lane had its data ready, at the latest at its begin
  bool blocking = false;      ///< on the main lane itself
};

/// The collectives of a step, by begin. A bucket is ready when the main lane's last span of it ends; a
/// collective without bucket when it begins.
std::vector<RankCollective> rank_collectives(std::span<const Span> spans, std::span<const std::string> names,
                                             std::int64_t begin_ns, std::int64_t end_ns);

/// The time of the rank's clock in which a piece of work was done.
struct WorkRange {
  std::uint32_t event = 0;  ///< of RankStep::events; an event may have several
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// The events of the main lane in [begin_ns, end_ns). `place` maps the correlation of each collective that
/// all ranks have to its number. Time without work is a wait if collectives cover half of it or more and one
/// ends in it; otherwise it is host time. Each part of the optimizer waits for the reductions that ended
/// before it, and the step's end for all collectives that end in the step. Compute beside communication is
/// stored as if it had been alone. `ranges`, if given, receives the time ranges of the work, in order.
RankStep rank_step(std::span<const Span> spans, const std::vector<RankCollective>& collectives,
                   const std::map<std::uint64_t, std::uint32_t>& place, std::int64_t begin_ns, std::int64_t end_ns,
                   double slowdown, std::vector<WorkRange>* ranges = nullptr);

}  // namespace ddbench::analyzer
