#pragma once

#include <string>

#include "analyzer/run/run_summary.h"
#include "reports/formats/terminal/layout/paint.h"

namespace ddbench::reports {

/// Where a step goes: a row for each part with time, share and bar. The shown times sum to the shown total.
std::string partition_section(const analyzer::RunSummary& summary, const Paint& paint, std::size_t width);

/// What was lost against the ideal step: signed bars that sum to the lost time. Empty without efficiency.
std::string waterfall_section(const analyzer::RunSummary& summary, const Paint& paint, std::size_t width);

/// A row for each function, bucket and size. Empty without collectives.
std::string collectives_section(const analyzer::RunSummary& summary, const Paint& paint, std::size_t width);

}  // namespace ddbench::reports
