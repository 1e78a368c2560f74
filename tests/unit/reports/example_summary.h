#pragma once

#include "analyzer/run/run_summary.h"
#include "analyzer/scaling/scaling.h"

namespace ddbench::reports {

/// 16 ranks on 2 cores, shaped links, everything measured: efficiency 11.8%.
analyzer::RunSummary example_run();
/// A run on one GPU: nothing to wait for, nothing to compare with.
analyzer::RunSummary example_baseline();
/// Killed before the first measured step.
analyzer::RunSummary example_failed_run();
/// A finished run whose figures must not be used.
analyzer::RunSummary example_invalid_run();
/// A published throughput of 8 GPUs, without batch and step time.
analyzer::RunSummary example_imported_run();
/// Names that try to act on the terminal, break out of a line, or are no text at all.
analyzer::RunSummary example_hostile_run();

analyzer::ScalingTable example_strong_scaling();
analyzer::ScalingTable example_weak_scaling();

}  // namespace ddbench::reports
