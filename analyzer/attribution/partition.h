#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/run_case/records.h"
#include "core/span.h"

namespace ddbench::analyzer {

/// For each collective (Span::correlation) the arrival of its last rank, on the clock of the rank whose spans
/// are partitioned. Absent: not known, and the whole collective counts as transfer. A rank that left before the last
/// one came (the root of a broadcast) waited all its time; an arrival before its begin is no wait.
using LastArrivals = std::unordered_map<std::uint64_t, std::int64_t>;

struct PartitionedStep {
  store::StepPartition partition;     ///< sums to end_ns - begin_ns, always
  std::int64_t communication_ns = 0;  ///< union of communication inside the step
  std::int64_t overlap_ns = 0;        ///< (union of communication) n (union of compute)
  std::int64_t peer_wait_ns = 0;      ///< sum over collectives of last arrival - own arrival, inside the step
};

/// Assigns each instant of [begin_ns, end_ns) to one part, by the priority of DESIGN's step partition:
/// compute (forward, backward, optimizer, other) > exposed transfer > exposed peer wait > copy > data wait >
/// host > idle. Where several lanes are busy at one instant the first of this list wins, so that the transfer
/// of one collective hides the peer wait of another. Spans may be in any order, overlap, nest, extend beyond
/// the step or be empty; kStep spans and spans that end before they begin are ignored. O(n log n), O(n) above
/// 4096 boundaries; spans outside cost nothing. Throws Error{kBadInput} when end_ns < begin_ns or the step is
/// longer than 2^58 ns (9 years).
PartitionedStep partition_step(std::span<const Span> spans, std::int64_t begin_ns, std::int64_t end_ns,
                               const LastArrivals& last_arrivals);

}  // namespace ddbench::analyzer
