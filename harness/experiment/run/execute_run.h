#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "analyzer/store/rows/run_store.h"
#include "core/run_case/run_case.h"
#include "harness/experiment/ingest/run_observer.h"
#include "harness/experiment/run/resume.h"
#include "harness/launch/launch.h"

namespace ddbench::experiment {

struct ExecuteOptions {
  std::filesystem::path executable;  ///< of ddbench, started as `<executable> worker` for each rank
  std::chrono::milliseconds watchdog{60'000};
  launch::LauncherOptions launcher;
  std::chrono::milliseconds preemption_grace{20'000};  ///< from SIGTERM to the end of the ranks
  std::string sweep_id;
  store::RunId baseline_id;
  bool is_baseline = false;
  bool sets_rank_variables = true;  ///< launch::LaunchOptions
  int repetition = 0;
  /// Where the folders of checkpoints go; empty: "<store>.checkpoints". Only for cases that write some.
  std::filesystem::path checkpoint_directory;
  std::optional<Resume> resume;  ///< the run that this one continues; the case is that run's
};

/// Refuses what cannot be run, before anything is started or stored: unknown workload or link rate and, where
/// the ranks will be on this machine, unknown device or backend, too few GPUs, and not enough memory. Throws
/// Error{kBadInput} or Error{kEnvironment}.
void check_startable(const RunCase& run_case, const launch::LauncherOptions& launcher);

/// What device, backend and precision of a reference workload need of each other, on whatever machine. Throws
/// Error{kBadInput} that says what does not fit.
void check_parts_fit(const RunCase& run_case);

/// Runs the case where the launcher puts it, keeps everything in the store as it comes in, and turns it into
/// figures' rows. Returns the stored record whatever became of the run (done, failed with its reason,
/// interrupted, preempted). Throws Error only when the run could not be started or its results could not be
/// stored; then no process, namespace or file is left, and the run is stored as failed if the store still
/// takes a row.
store::RunRecord execute_run(const RunCase& run_case, const ExecuteOptions& options, store::RunStore& store,
                             RunObserver& observer);

}  // namespace ddbench::experiment
