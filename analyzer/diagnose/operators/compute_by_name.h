#pragma once

#include <map>
#include <span>
#include <string>

#include "analyzer/store/rows/run_store.h"

namespace ddbench::analyzer {

/// Nanoseconds of compute by operator or kernel.
using TimeByName = std::map<std::string, double>;

/// Sums over the steps of one rank, from its stored spans.
TimeByName compute_by_name(const store::RunStore& store, const store::RunId& run, int rank, std::span<const std::uint32_t> steps);

/// Means over ranks and steps. Empty if spans were reduced (analyzer/attribution/summarize_step.h), or if there
/// are none.
TimeByName mean_compute_by_name(const store::RunStore& store, const store::RunId& run, std::span<const int> ranks,
                                std::span<const std::uint32_t> steps);

}  // namespace ddbench::analyzer
