#pragma once

#include <string>
#include <vector>

#include "analyzer/import/trace/import_trace.h"
#include "analyzer/import/trace/job.h"
#include "core/clock.h"

namespace ddbench::imports {

// Each function adds notes for the user about the traces to `notes`, if there is anything to report.

/// What compute is. Makes the run invalid where the machine has GPUs and its trace no kernels.
void note_compute(const TraceJob& job, const TraceOrigin& origin, store::RunRecord& run, std::vector<std::string>& notes);
void note_losses(const TraceJob& job, std::vector<std::string>& notes);
void note_sizes(const TraceJob& job, const TraceOrigin& origin, std::vector<std::string>& notes);
void note_clocks(const TraceJob& job, const std::vector<ClockMap>& clocks, std::vector<std::string>& notes);

}  // namespace ddbench::imports
