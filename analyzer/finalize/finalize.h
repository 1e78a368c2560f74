#pragma once

#include <cstddef>

#include "analyzer/store/rows/run_store.h"

namespace ddbench::analyzer {

/// Turns the stored spans of a run into its step, collective and kernel rows: joins the collectives across
/// ranks on aligned clocks, partitions every step of every rank, copies losses to the step rows. Works on
/// partial data: for a failed run, on the steps spooled before the failure. Calling it again replaces the
/// rows.
///
/// A span counts for the steps in which it lies in time; it is sought among the spans marked (Span::step)
/// with the step, the one before and the one after. A collective that not all ranks recorded (one was killed)
/// is not joined: it counts as transfer. Waits below the clocks' uncertainty count as transfer too. Bounded
/// memory: goes through the run in step ranges, and holds one rank's spans at a time.
///
/// Sets RunRecord::valid = false with the reason (and stores it) when a run of several ranks shows no
/// communication on any of them, when replicas differ after the last step, or when no measured step was
/// recorded. Records unusable data in Environment::facts under "analysis." keys. The stored row is then newer
/// than the caller's copy: read it again before updating it. Throws Error{kBadInput} when the run is unknown.
///
/// Spans are decoded and partitioned on up to `threads` threads (0: one for each core, at most 16). The rows do not depend on their
/// number. The store is used by the calling thread only.
void finalize_run(store::RunStore& store, const store::RunId& id, std::size_t threads = 0);

}  // namespace ddbench::analyzer
