#pragma once

#include <span>
#include <string>

#include "core/facts/facts.h"
#include "core/run_case/records.h"

namespace ddbench::analyzer {

// Reasons against the use of a run, in a sentence; empty if there is none.

/// Kernels of NCCL that were not recognised would count as compute, in addition to the collectives that NCCL's profiler reported.
std::string unrecognised_kernels(const Facts& facts);

/// Replicas whose parameters differ after the last step. Ranks without a hash are left out.
std::string differing_replicas(std::span<const store::RankRecord> ranks);

}  // namespace ddbench::analyzer
