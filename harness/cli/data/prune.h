#pragma once

#include <string>
#include <vector>

#include "harness/cli/options/run_selection.h"

namespace ddbench::cli {

struct PruneOptions {
  std::vector<std::string> runs;  ///< ids or unique parts of them; empty: all
  RunSelection selection;
  std::string older_than;  ///< "90d", "12h", "4w"
  int keep_last = 0;       ///< 0: not requested
  std::vector<std::string> states;
  bool invalid = false;
  bool stale = false;  ///< only runs stored as running that nobody drives any more (store::why_gone)
  bool spans_only = false;
  bool yes = false;
  bool json = false;
};

/// The runs that meet all of the criteria, oldest first; never a run that is running (but with `stale`), and, unless only spans
/// are deleted, no run that is the baseline of another or part of a named baseline: these are counted in
/// `kept`. A run whose row is unreadable is only deleted by its id. Throws Error{kBadInput} without a
/// criterion, and for an id that is unknown, ambiguous or of a running run.
std::vector<store::RunRecord> runs_to_prune(const store::RunStore& store, const PruneOptions& options,
                                            std::size_t& kept);

int prune(const PruneOptions& options);

}  // namespace ddbench::cli
