#pragma once

#include <string>
#include <vector>

#include "analyzer/run/run_summary.h"
#include "analyzer/store/rows/run_store.h"

namespace ddbench::cli {

/// Which runs a list has; what is empty selects all.
struct RunFilter {
  std::string name;
  std::string sweep;  ///< its id or a part of it, as sweep_with
  std::string user;   ///< who made it
  std::string job;    ///< of a scheduler: "slurm 1234", or "1234"
  std::string host;   ///< of the launcher or a rank; without its domain too
  int limit = 20;     ///< the newest; 0: all
};

/// Newest first. Throws kBadInput if there is no such sweep.
std::vector<store::RunRecord> listed_records(const store::RunStore& store, const RunFilter& filter);

/// The same, as summarize_for_list. Throws kBadInput if there is no such sweep.
std::vector<analyzer::RunSummary> listed_runs(const store::RunStore& store, const RunFilter& filter);

}  // namespace ddbench::cli
