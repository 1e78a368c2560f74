#pragma once

#include <string>
#include <vector>

#include "run_selection.h"

namespace ddbench::cli {

struct PruneOptions {
  RunSelection selection;
  std::string older_than;  ///< "90d", "12h", "4w"
  int keep_last = 0;       ///< 0: not asked for
  std::vector<std::string> states;
  bool invalid = false;
  bool spans_only = false;
  bool yes = false;
  bool json = false;
};

/// What all of the criteria fit, oldest first; never a run that is running, and, unless only spans are
/// deleted, no run that another one is stated against or a named baseline holds: these are counted in `kept`.
/// Throws Error{kBadInput} without a criterion.
std::vector<store::RunRecord> runs_to_prune(const store::RunStore& store, const PruneOptions& options,
                                            std::size_t& kept);

int prune(const PruneOptions& options);

}  // namespace ddbench::cli
