#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "command.h"
#include "ddbench/analyzer/run_summary.h"
#include "ddbench/analyzer/scaling.h"
#include "ddbench/experiment/abandoned_runs.h"
#include "ddbench/experiment/baseline.h"
#include "ddbench/experiment/execute_run.h"
#include "ddbench/host/machine.h"
#include "ddbench/record/error.h"
#include "ddbench/reports/json.h"
#include "ddbench/reports/text.h"
#include "output.h"
#include "progress_line.h"
#include "run_options.h"

namespace ddbench::cli {
namespace {

struct RunCommandOptions : RunOptions {
  std::optional<std::int64_t> batch_per_gpu;
  std::optional<std::int64_t> global_batch;
  bool no_baseline = false;
};

void set_batch(const RunCommandOptions& options, RunCase& run_case) {
  if (options.batch_per_gpu) run_case.batch_per_gpu = *options.batch_per_gpu;
  if (!options.global_batch) return;
  run_case.scaling = ScalingMode::kStrong;
  const int ranks = run_case.world_size();
  if (*options.global_batch < ranks || *options.global_batch % ranks != 0) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("--global-batch is {}, but it must be a positive multiple of the {} ranks "
                            "({} nodes x {} gpus)",
                            *options.global_batch, ranks, run_case.nodes, run_case.gpus_per_node));
  }
  run_case.batch_per_gpu = *options.global_batch / ranks;
}

/// The run that the efficiency is stated against: one of the store when it is comparable, else measured now. Empty when the
/// case runs on one GPU itself, or the baseline could not be measured.
store::RunId obtain_baseline(const RunCommandOptions& options, const experiment::ExecuteOptions& execute,
                             store::RunStore& store, ProgressLine& progress) {
  if (options.no_baseline || options.run_case.world_size() == 1) return {};
  const RunCase baseline = baseline_case(options.run_case);
  const std::string fingerprint = host::fingerprint(host::inspect_machine());
  if (const auto stored = experiment::find_baseline(store, baseline, fingerprint)) return stored->id;
  progress.set_heading("baseline on 1 GPU");
  experiment::ExecuteOptions baseline_execute = execute;
  baseline_execute.is_baseline = true;
  const store::RunRecord run = experiment::execute_run(baseline, baseline_execute, store, progress);
  progress.finish();
  if (run.state == store::RunState::kInterrupted) throw Error(ErrorCode::kInterrupted, "interrupted: " + run.reason);
  if (run.state != store::RunState::kDone) {
    throw Error(ErrorCode::kRunFailed, fmt::format("the baseline on 1 GPU failed (run {}): {}\n"
                                                   "--no-baseline measures without one",
                                                   run.id, run.reason));
  }
  return run.id;
}

int exit_code_of(const store::RunRecord& run) {
  switch (run.state) {
    case store::RunState::kDone:
      return run.valid ? 0 : static_cast<int>(ErrorCode::kRunFailed);
    case store::RunState::kInterrupted:
      return static_cast<int>(ErrorCode::kInterrupted);
    default:
      return static_cast<int>(ErrorCode::kRunFailed);
  }
}

void print_result(const RunCommandOptions& options, const store::RunStore& store, const store::RunRecord& run) {
  const analyzer::RunSummary summary = analyzer::summarize(store, run.id);
  print(options.json ? reports::run_json(summary) + "\n" : reports::run_text(summary, stdout_style()));
}

int run(RunCommandOptions& options) {
  resolve(options);
  set_batch(options, options.run_case);
  validate(options.run_case);
  experiment::check_startable(options.run_case);

  auto store = store::RunStore::open(store_path(options.db), store::OpenMode::kReadWrite);
  experiment::recover_abandoned_runs(store);
  experiment::ExecuteOptions execute;
  execute.executable = own_executable();
  execute.watchdog = options.watchdog();

  ProgressLine progress(options.quiet);
  execute.baseline_id = obtain_baseline(options, execute, store, progress);
  // Repetitions are one case measured several times: they share a sweep id, and the table at the end has their interval.
  if (options.repeat > 1) execute.sweep_id = "repeat-" + store::new_run_id();
  store::RunRecord last;
  for (execute.repetition = 0; execute.repetition < options.repeat; ++execute.repetition) {
    progress.set_heading(options.repeat == 1 ? "run" : fmt::format("run {}/{}", execute.repetition + 1, options.repeat));
    last = experiment::execute_run(options.run_case, execute, store, progress);
    progress.finish();
    if (exit_code_of(last) != 0) break;
  }
  print_result(options, store, last);
  if (options.repeat > 1 && !options.json && exit_code_of(last) == 0) {
    print("\n" + reports::scaling_text(analyzer::scaling_table(store, execute.sweep_id), stdout_style()));
  }
  return exit_code_of(last);
}

}  // namespace

void add_run_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("run", "Train one case on nodes x GPUs and measure every step");
  const auto options = std::make_shared<RunCommandOptions>();
  command->add_option("--nodes", options->run_case.nodes, "Nodes (on one machine: network namespaces)")
      ->capture_default_str();
  command->add_option("--gpus", options->run_case.gpus_per_node, "GPUs a node; with --device cpu, ranks a node")
      ->capture_default_str();
  auto* per_gpu = command->add_option("--batch-per-gpu", options->batch_per_gpu,
                                      "Samples per GPU and step: weak scaling (default 64)");
  command->add_option("--global-batch", options->global_batch, "Samples per step over all GPUs: strong scaling")
      ->excludes(per_gpu);
  command->add_option("--link", options->run_case.link, "Shape each inter-node link, e.g. 1gbit or 100mbit");
  command->add_flag("--no-baseline", options->no_baseline, "Do not measure the same case on 1 GPU first");
  add_run_options(*command, *options);
  command->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace ddbench::cli
