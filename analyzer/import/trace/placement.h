#pragma once

#include <string>
#include <vector>

#include "analyzer/import/trace/job.h"

namespace ddbench::imports {

/// Which ranks share a node.
struct Placement {
  bool is_known = false;  ///< false: all ranks count as one node, and no conclusion may be drawn from that
  int per_node = 1;       ///< ranks of each node; divides the world size
  std::vector<int> node;  ///< of each trace
  std::string note;       ///< where it comes from, or why it is not known, for people; empty for a single rank
};

/// `stated`: ranks of each node, as the user says; 0: nobody says. Then hosts decide, where the traces of all
/// ranks name theirs and each has equally many, but where two ranks of a host use the GPU of one number
/// though they see several: then several nodes may have its name; else the ids of GPUs, where a rank uses the
/// GPU of its number modulo the GPUs that the traces see, as launchers assign them, and these are at least
/// two and divide the job. Nothing else is evidence: a process may see only its own GPU, and a job may use
/// some GPUs of a node. Throws Error{kBadInput} where `stated` does not divide the job, or contradicts the
/// hosts.
Placement find_placement(const TraceJob& job, int stated);

}  // namespace ddbench::imports
