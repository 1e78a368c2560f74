#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyzer/store/rows/run_store.h"

namespace ddbench::analyzer {

/// Adds to `facts` what ranks reported (core/facts: reported): the outcome of CUDA-graph capture, why there
/// are no kernels, why there is no CPU wait, NCCL's settings.
void add_reported_facts(const store::RunStore& store, const store::RunId& run,
                        const std::vector<store::RankRecord>& ranks, Facts& facts);

/// Adds the counters that ranks stored as scalars in their spools: those of the GPU and NCCL probes over all
/// ranks (for a program they were added at ingestion), the peak of a core's GEMM, and the loss scale with the
/// number of steps without an update, and the memory of devices.
void add_counted_facts(const store::RunStore& store, const store::RunId& run,
                       const std::vector<store::RankRecord>& ranks, Facts& facts);

}  // namespace ddbench::analyzer
