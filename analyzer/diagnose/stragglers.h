#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/figure/figure.h"
#include "analyzer/store/rows/run_store.h"

namespace ddbench::analyzer {

/// How often a rank (or a node) was the last to arrive at a collective, and what that cost the others.
struct Straggler {
  int rank = -1;  ///< -1: the row is of a whole node
  int node = 0;
  std::string host;
  std::uint64_t times_last = 0;
  double share_last = 0;  ///< of the collectives with a resolved last arrival; equal ranks: 1/n
  /// Mean over the times it was last: by how much the collective could have begun sooner without it (its
  /// arrival minus the arrival of the last other rank, or of the last rank of another node).
  double late_ns = 0;
  /// Peer wait that it caused on the other ranks (exposed or not), a step and waiting rank. Of a node: the
  /// sum over its ranks.
  double cost_ns_per_step = 0;
};

struct StragglerReport {
  store::RunId run;
  std::uint64_t collectives = 0;  ///< of the measured steps, seen on all their ranks
  std::uint64_t unresolved = 0;   ///< of these: the clocks cannot resolve the last two arrivals
  std::uint64_t incomplete = 0;   ///< not recorded by all ranks, and left out
  int steps = 0;                  ///< measured steps that had collectives
  double mean_step_ns = 0;
  std::vector<Straggler> ranks;  ///< dearest first
  std::vector<Straggler> nodes;  ///< dearest first; empty on one node
  std::vector<std::string> notes;
};

/// From the stored spans, on aligned clocks. Missing with the reason on one rank, without spans, or where the
/// clocks of the ranks were never compared. Looks at the first `most_steps` measured steps at most (0: all);
/// holds the spans of one rank and a range of steps at a time. Throws Error{kBadInput} when the run is
/// unknown.
Measured<StragglerReport> find_stragglers(const store::RunStore& store, const store::RunId& id,
                                          int most_steps = 0);

/// Cost of each rank as bars, one series a node.
Figure straggler_figure(const StragglerReport& report);

}  // namespace ddbench::analyzer
