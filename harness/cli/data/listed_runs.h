#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

struct ListedRecords {
  std::vector<store::RunRecord> newest;  ///< newest first, at most the limit
  std::int64_t all = 0;                  ///< how many there are without it
};

/// Throws kBadInput if there is no such sweep.
ListedRecords listed_records(const store::RunStore& store, const RunFilter& filter, bool counts_all = true);

}  // namespace ddbench::cli
