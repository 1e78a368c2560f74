#include "harness/cli/run/single_run.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "core/error.h"
#include "core/run_case/program_case.h"
#include "core/run_case/program_files.h"
#include "harness/cli/options/shared_options.h"
#include "harness/cli/run/logged_run.h"
#include "harness/cli/run/run_sku.h"
#include "harness/experiment/run/baseline.h"
#include "probes/machine/machine.h"

namespace ddbench::cli {
namespace {

void set_batch(const SingleRunOptions& options, RunCase& run_case) {
  if (options.batch_per_gpu) state_batch(run_case, *options.batch_per_gpu);
  if (!options.global_batch) return;
  if (is_program(run_case)) {
    throw Error(ErrorCode::kBadInput,
                "--global-batch does not apply to a program; state its batch per rank with --batch-per-gpu");
  }
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

}  // namespace

void add_single_run_options(CLI::App& app, SingleRunOptions& options) {
  app.add_option("--nodes", options.run_case.nodes, "Nodes (on one machine: network namespaces)")
      ->each([&options](const std::string&) { options.names_ranks = options.launcher.names_nodes = true; })
      ->capture_default_str();
  app.add_option("--gpus", options.run_case.gpus_per_node, "GPUs a node; with --device cpu, ranks a node")
      ->each([&options](const std::string&) { options.names_ranks = options.launcher.names_gpus = true; })
      ->capture_default_str();
  auto* per_gpu = app.add_option("--batch-per-gpu", options.batch_per_gpu,
                                 "Samples per GPU and step: weak scaling (default 64)");
  app.add_option("--global-batch", options.global_batch, "Samples per step over all GPUs: strong scaling")
      ->excludes(per_gpu);
  app.add_option("--link", options.run_case.link, "Shape each inter-node link, e.g. 1gbit or 100mbit");
  add_choice(app, "--network", options.run_case.requested_network,
             "Network that NCCL uses between nodes: ib or ethernet");
  auto* no_baseline =
      app.add_flag("--no-baseline", options.no_baseline, "Do not measure the same case on 1 GPU first");
  app.add_flag("--baseline", options.baseline,
               "Measure the same case on 1 GPU first. The default for built-in workloads; a program is started a second "
               "time only with this option")
      ->excludes(no_baseline);
  add_run_options(app, options);
}

void resolve_case(SingleRunOptions& options) {
  resolve(options);
  set_batch(options, options.run_case);
  validate(options.run_case);
  check_injected(options.run_case);
  check_sku(options, options.run_case);
  options.names_ranks |= options.program.per_node || options.baseline;
}

void resolve_single_run(SingleRunOptions& options) {
  resolve_case(options);
  experiment::check_startable(options.run_case, options.launcher.launcher);
}

bool has_started_ranks(const RunOptions& options) {
  // A rank that is alone is this process, which can run again; others were started once and end with their run.
  return options.launcher.launcher.launcher == launch::Launcher::kEnv && options.run_case.world_size() > 1;
}

void refuse_repetitions_of_started_ranks(const RunOptions& options) {
  if (options.repeats.most == 1 || !has_started_ranks(options)) return;
  throw Error(ErrorCode::kBadInput,
              "--repeat cannot be combined with --launcher env: externally started ranks serve one run. `ddbench sweep --repeat N` repeats runs "
              "on them");
}

store::RunId obtain_baseline(const SingleRunOptions& options, const experiment::ExecuteOptions& execute,
                             store::RunStore& store, ProgressLine& progress) {
  if (options.no_baseline || options.run_case.world_size() == 1) return {};
  const RunCase baseline = baseline_case(options.run_case);
  const std::string fingerprint = host::fingerprint(host::inspect_machine());
  const bool elsewhere = execute.launcher.launcher != launch::Launcher::kLocal;
  const auto stored = experiment::find_baseline(store, baseline, fingerprint, elsewhere);
  const bool is_edited = stored && !elsewhere && !files_changed_since(stored->environment.facts).empty();
  if (stored && !(is_edited && options.baseline)) return stored->id;  // the efficiency names edited scripts
  // Whoever has a program run twice wants to know: it may overwrite its own checkpoints.
  if (is_program(options.run_case) && !options.baseline) return {};
  // The ranks that others have started are waiting for this run.
  if (execute.launcher.launcher == launch::Launcher::kEnv) return {};
  progress.set_heading("baseline on 1 GPU");
  experiment::ExecuteOptions baseline_execute = execute;
  baseline_execute.is_baseline = true;
  const store::RunRecord run = execute_logged_run(baseline, baseline_execute, options, store, progress);
  progress.finish();
  if (store::was_stopped(run.state))
    throw Error(ErrorCode::kInterrupted, fmt::format("{}: {}", store::to_string(run.state), run.reason));
  if (run.state != store::RunState::kDone) {
    throw Error(ErrorCode::kRunFailed, fmt::format("the baseline on 1 GPU failed (run {}): {}\n"
                                                   "--no-baseline measures without one",
                                                   run.id, run.reason));
  }
  return run.id;
}

int exit_code_of(const store::RunRecord& run) {
  if (store::was_stopped(run.state)) return static_cast<int>(ErrorCode::kInterrupted);
  return run.state == store::RunState::kDone && run.valid ? 0 : static_cast<int>(ErrorCode::kRunFailed);
}

}  // namespace ddbench::cli
