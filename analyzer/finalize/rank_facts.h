#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyzer/store/rows/run_store.h"

namespace ddbench::analyzer {

/// Adds to `facts` what ranks have reported (core/facts: reported): what became of the CUDA graph, why there
/// are no kernels, why there is no CPU wait, NCCL's settings.
void add_reported_facts(const store::RunStore& store, const store::RunId& run,
                        const std::vector<store::RankRecord>& ranks, Facts& facts);

/// Adds what ranks have counted in the scalars of their spools: what the probes of GPU and NCCL saw, over all
/// ranks (of a program that was told when it was taken in), the peak of a core's GEMM, and the loss scale
/// with the steps that updated nothing.
void add_counted_facts(const store::RunStore& store, const store::RunId& run,
                       const std::vector<store::RankRecord>& ranks, Facts& facts);

}  // namespace ddbench::analyzer
