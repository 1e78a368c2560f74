#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "ddbench/record/span.h"
#include "ddbench/store/records.h"

namespace ddbench::analyzer {

/// For each collective (Span::correlation) the arrival of its last rank, on the clock of the rank whose spans
/// are partitioned. Absent: not known, and the whole collective counts as transfer.
using LastArrivals = std::unordered_map<std::uint64_t, std::int64_t>;

struct PartitionedStep {
  store::StepPartition partition;     ///< sums to end_ns - begin_ns, always
  std::int64_t communication_ns = 0;  ///< union of communication inside the step
  std::int64_t overlap_ns = 0;        ///< (union of communication) n (union of compute)
  std::int64_t peer_wait_ns = 0;      ///< sum over collectives of last arrival - own arrival, inside the step
};

/// Gives each instant of [begin_ns, end_ns) to one part, by the priority of DESIGN's step partition: compute
/// (forward, backward, optimizer, other) > exposed transfer > exposed peer wait > copy > data wait > host >
/// idle. Spans may lie in any order, overlap, nest, reach over the step's ends or be empty. O(n log n); spans
/// outside cost nothing.
PartitionedStep partition_step(std::span<const Span> spans, std::int64_t begin_ns, std::int64_t end_ns,
                               const LastArrivals& last_arrivals);

}  // namespace ddbench::analyzer
