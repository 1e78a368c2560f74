#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "ddbench/experiment/live_progress.h"
#include "ddbench/experiment/resume.h"
#include "ddbench/launch/launch.h"
#include "ddbench/record/run_case.h"
#include "ddbench/store/run_store.h"

namespace ddbench::experiment {

struct ExecuteOptions {
  std::filesystem::path executable;  ///< of ddbench, started as `<executable> worker` for each rank
  std::chrono::milliseconds watchdog{60'000};
  launch::LauncherOptions launcher;
  std::chrono::milliseconds preemption_grace{20'000};  ///< from SIGTERM to the end of the ranks
  std::string sweep_id;
  store::RunId baseline_id;
  bool is_baseline = false;
  int repetition = 0;
  /// Where the folders of checkpoints go; empty: "<store>.checkpoints". Only for cases that write some.
  std::filesystem::path checkpoint_directory;
  std::optional<Resume> resume;  ///< the run that this one continues; the case is that run's
};

/// What a person or a log sees of a run while it runs. Called on the thread of execute_run.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void on_start(const store::RunRecord& run) = 0;
  virtual void on_network(const std::string& network, const std::string& note) = 0;
  virtual void on_progress(const LiveProgress& progress) = 0;
  /// Whole lines that the program of a rank has printed, without their ends.
  virtual void on_output(int rank, const std::string& line) = 0;
  /// The ranks are gone, and this takes its time: what is waited for, and why it may last.
  virtual void on_wait(const std::string& what) = 0;
  virtual bool interrupted() = 0;  ///< true: stop the ranks and store the run as interrupted
  /// True: write a last checkpoint, where the case writes some, end the ranks and store the run as preempted.
  virtual bool preempted() { return false; }
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
/// interrupted, preempted). Throws Error only when the run could not be started or its results could not be stored; then
/// no process, namespace or file is left, and the run is stored as failed if the store still takes a row.
store::RunRecord execute_run(const RunCase& run_case, const ExecuteOptions& options, store::RunStore& store,
                             RunObserver& observer);

}  // namespace ddbench::experiment
