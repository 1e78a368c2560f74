#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/store/rows/run_store.h"

namespace ddbench::analyzer {

/// What a rank had sent to another one at the end of a step, and how long its connection had been busy with it: sums.
struct LinkReading {
  std::uint32_t step = 0;
  double bytes = 0;
  double busy_ns = 0;
};

/// A connection from one rank to another, as the sending side counted it.
struct LinkUse {
  int from_rank = 0;
  int to_rank = 0;
  int from_node = 0;
  int to_node = 0;
  std::vector<LinkReading> readings;  ///< ascending, two or more
};

/// Connections between nodes that the run recorded (core/run_case/link_counters.h); empty if its collectives
/// are not Gloo's, for a program, or if all ranks are on one node.
std::vector<LinkUse> link_uses(const store::RunStore& store, const store::RunId& run, std::span<const store::RankRecord> ranks);

}  // namespace ddbench::analyzer
