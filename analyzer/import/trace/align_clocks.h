#pragma once

#include <vector>

#include "analyzer/import/trace/job.h"
#include "core/clock.h"

namespace ddbench::imports {

/// How the clock of each trace maps onto that of the first one, from the collectives that have keys and in
/// which no rank can end before all have begun (analyzer::CausalClocks): one offset for the whole recording,
/// the middle of the range that all of them allow. The first is exact, and so are those of its clock
/// (RankTrace::clock). A trace that no collective connects to the first has a map without readings, which
/// means that its clock was never compared: the wall clocks of machines are not trusted.
std::vector<ClockMap> align_clocks(const TraceJob& job);

}  // namespace ddbench::imports
