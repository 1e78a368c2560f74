#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/facts/facts.h"

namespace ddbench {

/// The scheduler's names for the job of this process, from the environment.
struct SchedulerJob {
  std::string id;                        ///< "slurm 1234"; empty: no job
  std::optional<std::int64_t> restarts;  ///< how often it was started again; nothing where the scheduler does not say
  std::string partition;
  std::string nodes;  ///< "n[1-2]", as the scheduler writes it
};

/// Of Slurm, PBS, LSF, Grid Engine and Azure ML, by their variables.
SchedulerJob own_job();

/// The job, the user, the container image and the version of this program: job.*, user, image, ddbench.*.
void add_origin_facts(Facts& facts);

/// The name of this process's effective user, as the fact owner.user has it; its number where the system does not know it.
std::string current_user();

/// Whether these facts are of an earlier start of the job that this process belongs to: that start is over.
bool is_earlier_start_of_own_job(const Facts& facts);

}  // namespace ddbench
