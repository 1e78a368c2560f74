#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/run_case/records.h"

namespace ddbench::store {

struct MergeResult {
  std::vector<RunId> added;
  std::vector<RunId> unchanged;  ///< `target` had them already, with the same content
  RunId already_there;           ///< import_sweep: a run of the sweep, so that nothing was merged
};

/// Copies runs into `target` with all that hangs on them; they keep their ids. A run that `target` already
/// has is left alone when its content is the same, bit for bit, but for raw spans that one of the two no longer
/// has (kSpans); when it is not, nothing is merged and Error{kBadInput} names all such runs and a table in which
/// they differ. One transaction: all or nothing.
/// Sources are read only; a missing target is created. Throws as RunStore::open, and for what is_run_id
/// refuses.
MergeResult merge_stores(const std::filesystem::path& target, std::span<const std::filesystem::path> sources);

/// The same for the named runs of one source. An id that it does not hold is left out: it was deleted since it was chosen.
MergeResult export_runs(const std::filesystem::path& source, std::span<const RunId> ids,
                        const std::filesystem::path& target);

/// Merges the runs of `source`, which are all of one sweep, unless `target` holds a run of that sweep
/// already. Looked at within the transaction: of several imports of one file at once, one stores it.
MergeResult import_sweep(const std::filesystem::path& target, const std::filesystem::path& source,
                         const std::string& sweep_id);

/// The newest run of a sweep; empty when the file, or such a run, is not there. Throws as RunStore::open.
RunId run_of_sweep(const std::filesystem::path& file, const std::string& sweep_id);

enum class PruneWhat {
  kRuns,          ///< the runs and all that hangs on them
  kUnneededRuns,  ///< the same, but for those that a named baseline (its newest version) or a run that stays needs
  kSpans,         ///< only their raw spans: steps, collectives and kernels stay
};
enum class PruneRoom {
  kReturned,  ///< to the file system: the store is written anew (VACUUM), which takes long for a large one
  kKept,      ///< in the store, for the runs to come
};
struct PruneResult {
  std::vector<RunId> found;  ///< of the ids, those that were deleted
  std::size_t needed = 0;    ///< of the ids, how many kUnneededRuns has kept
  std::uintmax_t bytes_before = 0;
  std::uintmax_t bytes_after = 0;
};

/// The runs that a deletion leaves.
struct RunsLeft {
  std::span<const RunRecord> readable;
  bool all_are_readable = true;
};

/// `check` and `before_commit` are called in the transaction that deletes, while no other process can write, and must be quick.
/// What they throw ends it, and nothing is deleted.
struct PruneSteps {
  std::function<void(const RunRecord&)> check = {};  ///< for each run whose row can be read
  /// Once, before the rows are gone for good: puts aside what belongs to the runs `found` outside of the store.
  std::function<void(std::span<const RunId> found, const RunsLeft& left)> before_commit = {};
  /// The rows are gone: removes what was put aside.
  std::function<void()> after_commit = {};
};

/// Deletes in one transaction. An id that the store does not hold is left out: another process was quicker.
PruneResult prune_store(const std::filesystem::path& file, std::span<const RunId> ids, PruneWhat what, const PruneSteps& steps = {},
                        PruneRoom room = PruneRoom::kReturned);

struct CheckResult {
  std::int64_t runs = 0;
  std::int64_t steps = 0;
  std::int64_t spans = 0;
  std::string journal;  ///< describe_journal
  std::vector<std::string> problems;  ///< what, in which run; the first ones of each kind
};

/// How the store is kept, or would be if it were made: "write-ahead log on ext4", "rollback journal on nfs: it shares no
/// memory between machines". Throws as RunStore::open for a file that is no database.
std::string journal_in_use(const std::filesystem::path& file);

/// Reads everything: SQLite's own integrity check, references between tables, that each run's row and each
/// chunk of spans can be read and agrees with its row, and that the parts of each step sum to the step.
/// Changes nothing. Throws only if a file cannot be read as a store at all.
CheckResult check_store(const std::filesystem::path& file);

}  // namespace ddbench::store
