#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/collectives/alpha_beta.h"
#include "analyzer/collectives/micro_table.h"
#include "analyzer/figure/figure.h"
#include "analyzer/run/run_summary.h"

namespace ddbench::analyzer {

/// Collectives of one function in one world (CollectiveWorld): how long each size takes.
struct CollectiveCurve {
  std::string label;  ///< labels_of_worlds(): "all_reduce, 2 × 2, 1gbit"; without the function where all are of one
  std::string function;
  int ranks = 0;  ///< of the communicator; 0: not known
  std::vector<TimedSize> points;   ///< by size; transfer time, one a run
  std::vector<AlphaBetaFit> fits;  ///< empty where there are fewer than three sizes
  ProvenanceSet provenance;
};

struct CollectiveCurves {
  std::vector<CollectiveCurve> curves;
  /// What the link allows at most, in 1e9 B/s; missing where no run was made over a link of a stated rate, or
  /// over several.
  Measured<double> link_ceiling_gb_per_s = Measured<double>::missing("no link of a stated rate");
  std::vector<std::string> notes;
};

/// The collectives of training runs and of `ddbench micro` (`micro`), by CollectiveWorld, in the order of labels.
CollectiveCurves collective_curves(std::span<const RunSummary> runs, std::span<const MicroTable> micro = {});

/// Transfer time over size, measured and fitted, log-log.
Figure collective_time_figure(const CollectiveCurves& curves);
/// Bus bandwidth over size, with the link's ceiling, log-log.
Figure collective_bandwidth_figure(const CollectiveCurves& curves);

/// "1gbit" as 0.125; missing on another text than number and kbit, mbit or gbit.
Measured<double> link_gb_per_s(const std::string& link);

}  // namespace ddbench::analyzer
