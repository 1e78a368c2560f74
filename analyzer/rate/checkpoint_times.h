#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "analyzer/store/rows/run_store.h"

namespace ddbench::analyzer {

/// Seconds that writing a checkpoint took, on the rank where it took longest, by the step that it follows and is part of. Empty
/// where the run wrote none. Throws as RunStore::step_values.
std::map<std::uint32_t, double> checkpoint_seconds_by_step(const store::RunStore& store, const store::RunRecord& run);

/// What checkpoints added to a measured step (warm-up left out), in ns: mean over the steps of all runs; 0 where none was written.
double checkpoint_ns_a_step(const store::RunStore& store, std::span<const store::RunRecord> runs);

}  // namespace ddbench::analyzer
