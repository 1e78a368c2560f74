#pragma once

#include <cstdint>

#include "core/run_case/run_case.h"
#include "harness/collective/communicator.h"
#include "harness/training/train.h"
#include "probes/recorder/recorder.h"

namespace ddbench::micro {

/// Measures collectives and ceilings on this rank, in lock step with the others: the whole life of such a
/// worker after rendezvous. Records values (analyzer/micro_table.h) and no spans. Reports progress to
/// `monitor` in steps of the case. Throws Error{kBadInput} as plan_measurements, Error{kRunFailed} when a
/// collective fails.
void measure(const RunCase& run_case, collective::Communicator& communicator, host::Recorder& recorder,
             ddp::TrainingMonitor& monitor);

/// Bytes of host memory that one rank needs.
std::int64_t memory_per_rank_bytes(const RunCase& run_case);

/// The largest max_bytes that `ranks` ranks can have in `available_bytes`; at most 64 MiB, at least
/// min_bytes.
std::int64_t usual_max_bytes(std::int64_t available_bytes, int ranks);

/// Gives a case (is_micro) that states no max_bytes the usual one where that is less than the default.
void limit_max_bytes(RunCase& run_case, std::int64_t available_bytes);

}  // namespace ddbench::micro
