#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "analyzer/diagnose/live/live_verdict.h"
#include "harness/experiment/ingest/live_progress.h"

namespace ddbench::experiment {

/// Where a program stands, as its processes on this machine count it (probes/recorder/live_counts.h): the fewest steps of the processes that made
/// any, the rate of the slowest since its first step, and the mean share of that time in which they communicated. Empty where
/// none has ended a step: the program marks none, or its steps are found from outside when it has ended.
std::optional<LiveProgress> read_program_progress(const std::filesystem::path& run_directory);

/// The same of each rank, by the names of its files: that of its process which has most steps.
std::vector<analyzer::LiveReading> read_program_readings(const std::filesystem::path& run_directory);

}  // namespace ddbench::experiment
