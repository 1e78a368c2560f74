#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/import/imported_run.h"
#include "analyzer/import/nccl_ras/status.h"

namespace ddbench::imports {

struct RasSnapshot {
  ImportedRun run;                    ///< of no steps; failed where ranks are missing, aborted or in error
  std::vector<std::string> findings;  ///< what is wrong, the worst first: "rank 1 of 2 (GPU 1, process 77 on 10.0.0.1) does ..."
  std::vector<std::string> unequal;   ///< ranks that launched fewer collectives than others of their communicator
};

/// Makes a run of what NCCL's RAS reported about a job at one time. It knows what was launched and no times: the run's notes have that,
/// and say that it is a snapshot. That ranks launched different numbers of collectives is no failure by itself: they do while
/// they work. Errors as read_ras_status.
RasSnapshot read_nccl_ras(std::string_view text, const std::string& origin, const std::string& name);

}  // namespace ddbench::imports
