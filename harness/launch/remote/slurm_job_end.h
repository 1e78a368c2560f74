#pragma once

#include <filesystem>
#include <string_view>

#include "harness/launch/control/rank_processes.h"

namespace ddbench::launch {

/// What Slurm did to a job step, by what srun and slurmstepd print of it:
///   slurmstepd: error: *** STEP 3.0 ON n1 CANCELLED AT 2026-11-23T17:31:44 DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***
///   srun: error: Node failure on n2
/// "CANCELLED" without a reason is scancel, of the job, of the step, or only by a signal (--signal). A node that was lost counts most, as what else is printed follows from it.
JobEnd slurm_job_end(std::string_view printed);

/// The same of the end of a file; nothing is known where it cannot be read.
JobEnd slurm_job_end_in(const std::filesystem::path& log);

/// From the output of `scontrol show job -o`: a job that still runs was not cancelled, but received a signal.
bool is_still_running(std::string_view shown) noexcept;

}  // namespace ddbench::launch
