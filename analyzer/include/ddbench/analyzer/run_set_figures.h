#pragma once

#include <span>
#include <string>

#include "ddbench/analyzer/figure.h"
#include "ddbench/analyzer/run_summary.h"

namespace ddbench::analyzer {

/// The step partitions of several runs beside each other, one stacked bar a run, in the order given. Runs
/// without probed steps have no bar and are named in a note.
Figure partitions_figure(std::span<const RunSummary> runs);

/// "2 x 4, 1gbit, main": size, link and name of a run, as short as runs are told apart in a figure.
std::string short_label(const store::RunRecord& run);

}  // namespace ddbench::analyzer
