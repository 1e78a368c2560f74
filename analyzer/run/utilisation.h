#pragma once

#include <span>

#include "analyzer/figure/figure.h"
#include "analyzer/store/rows/run_store.h"

namespace ddbench::analyzer {

class SkuCatalogue;

/// The utilisation of a run's devices as shares of their peak.
struct Utilisation {
  /// For one device in the run's precision: from the catalogue for GPUs, measured for CPUs.
  Measured<double> peak_tflops = Measured<double>::missing("no peak known");
  Measured<double> mfu = Measured<double>::missing("no FLOPs known");  ///< of the model's FLOP/s
  Measured<double> hfu = Measured<double>::missing("no FLOPs known");  ///< of all FLOP/s that were done
  int devices = 1;  ///< physical ones, that share the FLOPs
};

/// The number of physical devices that the ranks used: on each host as many as there are ranks, but no more
/// than it has cores (or GPUs). 16 ranks on 2 cores had 2, and four ranks on one GPU had 1. The number of
/// ranks if that is not known.
int physical_devices(const store::RunRecord& run, std::span<const store::RankRecord> ranks);

/// Utilisation of a run with this throughput. `ranks`: its rank rows.
Utilisation utilisation_of(const store::RunRecord& run, std::span<const store::RankRecord> ranks,
                           double samples_per_s, const SkuCatalogue& catalogue);

}  // namespace ddbench::analyzer
