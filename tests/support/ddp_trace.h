#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/span.h"

namespace ddbench::test {

struct TraceOptions {
  int steps = 600;
  std::uint32_t first_step = 0;
  int layers = 4;  ///< 25 spans a step with 4 layers and 3 buckets
  int buckets = 3;
  /// Share of spans that lose their core for some milliseconds: 0 on a quiet machine, 0.1 with many ranks a
  /// core.
  double preempted_share = 0;
  std::uint64_t seed = 1;
};

struct Trace {
  std::vector<Span> spans;  ///< as the drain thread finds them: ring after ring, a few steps at a time
  std::vector<std::string> names;
};

/// What a rank of a DDP training records: forward, backward, bucket copies, all-reduces on their own lane,
/// optimizer, loader. Lengths are log-normal around those of an MLP on one core. Same options, same trace.
Trace ddp_trace(const TraceOptions& options);

}  // namespace ddbench::test
