#pragma once

#include <cstdint>
#include <optional>

#include "harness/cli/options/progress_line.h"
#include "harness/cli/options/run_options.h"
#include "harness/experiment/run/execute_run.h"

namespace ddbench::cli {

/// The options of one case, as `run` takes them and as each side of `gate --run` does.
struct SingleRunOptions : RunOptions {
  std::optional<std::int64_t> batch_per_gpu;
  std::optional<std::int64_t> global_batch;
  bool no_baseline = false;
  bool names_ranks = false;  ///< --nodes, --gpus or --per-node was given: ddbench starts ranks, and not one process
  bool baseline = false;  ///< also of a program, which is started only once without it
  std::string checkpoint_dir;
  std::string resume;  ///< only of `run`
  std::string metrics_file;  ///< only of `run`
  bool force = false;  ///< of --resume and --continue: also a run that another ddbench seems to drive
  bool go_on = false;  ///< --continue, only of `run`
};

void add_single_run_options(CLI::App& app, SingleRunOptions& options);

/// Turns the options into the case, and refuses invalid ones.
void resolve_case(SingleRunOptions& options);

/// As resolve_case; refuses what cannot be started here, too (before anything is stored).
void resolve_single_run(SingleRunOptions& options);

/// Whether others have started the ranks (--launcher env): each serves one run.
bool has_started_ranks(const RunOptions& options);

/// Throws Error{kBadInput} for --repeat where has_started_ranks(). Call on every rank, after resolve(): one
/// that goes on would wait for the first.
void refuse_repetitions_of_started_ranks(const RunOptions& options);

/// The run that the efficiency is stated against: one of the store when it is comparable, else measured now.
/// Empty when the case runs on one GPU itself, or no baseline is wanted.
store::RunId obtain_baseline(const SingleRunOptions& options, const experiment::ExecuteOptions& execute,
                             store::RunStore& store, ProgressLine& progress);

/// What `run` and `micro` exit with.
int exit_code_of(const store::RunRecord& run);

}  // namespace ddbench::cli
