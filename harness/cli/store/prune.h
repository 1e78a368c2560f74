#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/store/maintenance/maintenance.h"
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
  bool force = false;  ///< also runs of other users, in a store that several users share
  bool yes = false;
  bool json = false;
  std::optional<std::set<store::RunId>> only;  ///< of these runs alone; a criterion too
};

struct PruneChoice {
  std::vector<store::RunRecord> runs;                 ///< oldest first
  std::size_t kept = 0;                               ///< matching runs that others need
  std::map<std::string, std::size_t> kept_of_others;  ///< matching runs of other users (OthersRuns), by user
};

/// The runs that meet all of the criteria; never a run that is running (but with `stale`), and, unless only spans
/// are deleted, no run that is the baseline of another or part of a named baseline. A run whose row is unreadable is only
/// deleted by its id. Throws Error{kBadInput} without a criterion, and for an id that is unknown, ambiguous, of a running run or
/// of another user's run.
PruneChoice runs_to_prune(const store::RunStore& store, const PruneOptions& options);

struct Deletion {
  store::PruneResult result;
  std::vector<std::string> notes;  ///< folders that stay, and why
};

/// Deletes what was chosen, with the folders beside the store. Throws Error{kBadInput}, and deletes nothing, when a run was taken
/// up since it was chosen.
Deletion delete_runs(const std::filesystem::path& store, const std::vector<store::RunRecord>& runs, store::PruneWhat what,
                     store::PruneRoom room = store::PruneRoom::kReturned);

int prune(const PruneOptions& options);

}  // namespace ddbench::cli
