#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "core/run_case/records.h"

namespace ddbench::experiment {

/// The files in a run directory beside the spools, for recovering the run (recover_runs.h).

/// Names the store that the run belongs to. Throws Error{kEnvironment} when it cannot be written.
void name_store(const std::filesystem::path& run_directory, const std::filesystem::path& store);

/// How a run ended that its store did not take.
struct KeptRun {
  store::RunRecord run;
  std::vector<store::RankRecord> ranks;
};

/// Best effort: without it, a recovered run is `interrupted`.
void keep_run(const std::filesystem::path& run_directory, const KeptRun& kept) noexcept;
std::optional<KeptRun> kept_run(const std::filesystem::path& run_directory, const store::RunId& id);

/// Whether ranks have spooled anything.
bool has_spools(const std::filesystem::path& run_directory);

/// Whether the directory of a dead run has data that its store still has to take. A run that is no longer in
/// its store, or whose store was deleted, needs nothing; a store that cannot be looked into now may.
bool is_needed(const std::filesystem::path& run_directory);

}  // namespace ddbench::experiment
