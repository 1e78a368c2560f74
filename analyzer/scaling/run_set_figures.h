#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/figure/figure.h"
#include "analyzer/run/run_summary.h"

namespace ddbench::analyzer {

/// The step partitions of several runs beside each other, one stacked bar a run, in the order given. Runs
/// without probed steps have no bar and are named in a note.
Figure partitions_figure(std::span<const RunSummary> runs);

/// "2 × 4, 1gbit, main": size, link and name of a run.
std::string short_label(const store::RunRecord& run);

/// One label per run: short_label, and the fields in which these runs differ otherwise, for example "1 × 2,
/// zero2" or "2 × 4, 1gbit, batch per GPU 64". Equal for repetitions.
std::vector<std::string> distinguishing_labels(std::span<const store::RunRecord> runs);

}  // namespace ddbench::analyzer
