#pragma once

#include <string_view>

namespace ddbench::analyzer {

/// 2(n-1)/n for all_reduce, (n-1)/n for all_gather, reduce_scatter and all_to_all, 1 for broadcast, reduce,
/// send_recv (NCCL tests, doc/PERFORMANCE.md). Throws Error{kBadInput} on a function it does not know.
double bus_factor(std::string_view function, int ranks);

}  // namespace ddbench::analyzer
