#pragma once

#include <string>

#include "harness/launch/jobfile/job_file.h"

namespace ddbench::job {

/// Job::site_template with each {{PLACEHOLDER}} replaced: name, nodes, ranks, ranks_per_node, gpus_per_node, image, partition, account,
/// time, memory, cpus (of a rank), interface, store, environment ("export KEY=VALUE" lines), command (what starts the case: with sbatch one
/// command for the job, else that of each rank) and file (all that ddbench would have written). What was not given is empty. Azure ML's
/// ${{...}} stays. Throws Error{kBadInput} that names a placeholder which is none of these, and its line.
std::string filled_template(const Job& job, Format format, const std::string& file);

}  // namespace ddbench::job
