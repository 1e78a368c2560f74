#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/run_case/records.h"

namespace ddbench::store {

/// The ids of the runs that `file` has, and of those that it collected earlier, whether they were deleted
/// since or not. Empty if the file is not there. Throws as RunStore::open.
std::set<RunId> known_runs(const std::filesystem::path& file);

struct CollectedRun {
  RunId id;
  std::string source;         ///< CollectedSource::name
  std::int64_t wall_ns = 0;  ///< its start; when it was collected, if a clock elsewhere puts the start later
};

/// The runs that were collected (collect_runs) and are still there, newest first.
std::vector<CollectedRun> collected_runs(const std::filesystem::path& file);

/// What the files of a store were when it was read: sizes and times of the file and its log. Empty if it is
/// not there. A store of this state has the same runs, as each write changes a time.
std::string state_of_files(const std::filesystem::path& store);

/// The state that was noted for a source when it was last collected; empty if there is none.
std::string collected_state(const std::filesystem::path& file, const std::string& source);

struct CollectedSource {
  std::string name;   ///< "node1", "/scratch/results.db": where its runs are from
  std::string state;  ///< state_of_files, noted with its runs; empty: none
};

/// Copies those runs of `arrived`, a store that may come from anybody, into `target` that it does not know
/// (known_runs) and that are not running, notes where they are from, and the source's state. Nothing that
/// `target` has is changed. Each run is a transaction of its own, as other processes wait for it; a missing target is created.
/// What is cut short is continued by the next call. Returns the ids of the runs copied. An empty path for `arrived`: there is nothing new. Throws Error{kBadInput} if
/// check_store finds anything wrong in `arrived`, and as merge_stores.
std::vector<RunId> collect_runs(const std::filesystem::path& target, const std::filesystem::path& arrived,
                                const CollectedSource& source);

}  // namespace ddbench::store
