#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/import/imported_run.h"
#include "analyzer/import/nccl_ras/status.h"

namespace ddbench::imports {

struct RasSnapshot {
  ImportedRun run;                    ///< of no steps; failed where ranks are missing, aborted or in error
  std::vector<std::string> findings;  ///< worst first: "rank 1 of 2 (GPU 1, process 77 on 10.0.0.1) does ..."
  std::vector<std::string> unequal;   ///< ranks that launched fewer collectives than others of their communicator
};

/// Makes a run from the state of a job that NCCL's RAS reported at one time. RAS knows what was launched, but
/// no times: the run's notes contain this, and state that it is a snapshot. Different numbers of launched
/// collectives are not a failure: they occur during normal work. Errors as read_ras_status.
RasSnapshot read_nccl_ras(std::string_view text, const std::string& origin, const std::string& name);

}  // namespace ddbench::imports
