#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>

#include "analyzer/comparison/compare_by.h"
#include "analyzer/scaling/scaling.h"
#include "core/error.h"
#include "core/run_case/program_case.h"
#include "harness/cli/options/open_store.h"
#include "harness/cli/options/command.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/progress_line.h"
#include "harness/cli/options/run_options.h"
#include "harness/cli/options/recover.h"
#include "harness/cli/options/shared_options.h"
#include "harness/cli/run/emit.h"
#include "harness/cli/run/logged_run.h"
#include "harness/cli/run/run_sku.h"
#include "harness/cli/run/started_sweep.h"
#include "harness/experiment/run/baseline.h"
#include "harness/experiment/run/execute_run.h"
#include "harness/experiment/run/resume.h"
#include "harness/experiment/sweep/sweep_plan.h"
#include "harness/microbench/micro.h"
#include "probes/machine/machine.h"
#include "reports/formats/json/json.h"
#include "reports/formats/terminal/analysis.h"
#include "reports/formats/terminal/text.h"
#include "reports/tables/next_steps.h"

namespace ddbench::cli {
namespace {

/// The lists are kept as given: "1,2,4".
struct SweepOptions : RunOptions {
  std::string nodes;
  std::string gpus;
  std::string batch_per_gpu;
  std::string global_batch;
  std::map<std::string, std::string> others;  ///< by field of RunCase
  bool fresh = false;
  bool reference = false;
};

struct AxisOption {
  const char* name;
  const char* field;
  const char* help;
};

/// What a run takes one value of and a sweep takes several.
constexpr AxisOption kAxisOptions[] = {
    {"--link", "link", "Rates of the inter-node links, e.g. 10gbit,1gbit,none (not shaped)"},
    {"--network", "requested_network", "Networks between nodes: ib, ethernet"},
    {"--workload", "workload", "What is trained; see `ddbench list workloads`"},
    {"--precision", "precision", "Number formats, e.g. fp32,bf16"},
    {"--strategy", "strategy", "How gradients are brought together"},
    {"--accumulate", "accumulate", "Micro-batches a step, e.g. 1,2,4"},
    {"--optimizer", "optimizer", "Optimizers, e.g. sgd,lars"},
    {"--lr", "lr", "Learning rates, e.g. 0.05,0.1"},
    {"--lr-rule", "lr_rule", "How the learning rate follows the batch: none,linear,sqrt"},
    {"--bucket-mb", "bucket_bytes", "Gradient bucket sizes in MiB, e.g. 1,5,25 (the first one holds 1 MiB)"},
    {"--data-workers", "data_workers", "Loader threads of a rank, e.g. 0,2"},
    {"--prefetch", "prefetch", "Batches that loader threads are ahead, e.g. 2,4"},
    {"--seed", "seed", "Random seed for weights, data and shuffling, e.g. 1,2,3"},
};

/// `total` 0: how many there will be is not known.
std::string cell_heading(const experiment::SweepCell& cell, std::size_t done, std::size_t total) {
  const RunCase& run_case = cell.run_case;
  std::string text = total == 0 ? fmt::format("[{}]", done + 1) : fmt::format("[{}/{}]", done + 1, total);
  text += fmt::format(" {} node{} x {}", run_case.nodes, run_case.nodes == 1 ? "" : "s", run_case.gpus_per_node);
  if (!run_case.link.empty()) text += " over " + run_case.link;
  if (run_case.requested_network != NetworkRequest::kAny) text += fmt::format(" over {}", to_string(run_case.requested_network));
  if (cell.repetition > 0) text += fmt::format(", repetition {}", cell.repetition + 1);
  return text;
}

/// The newest run on one GPU that the case's efficiency can be stated against: mostly one of this sweep.
store::RunId baseline_of(const RunCase& run_case, const launch::LauncherOptions& launcher,
                         const store::RunStore& store) {
  if (run_case.world_size() == 1) return {};
  const std::string fingerprint = host::fingerprint(host::inspect_machine());
  const bool elsewhere = launcher.launcher != launch::Launcher::kLocal;
  const auto baseline = experiment::find_baseline(store, baseline_case(run_case), fingerprint, elsewhere);
  return baseline ? baseline->id : store::RunId{};
}

/// Runs the missing cases; returns the worst exit code. A failed case does not stop the others; an interrupt
/// does.
int run_cells(const std::vector<experiment::SweepCell>& cells,
              const std::vector<experiment::SweepCell>& missing, double repeat_margin,
              experiment::ExecuteOptions execute, const RunOptions& options, StartedSweep* started, store::RunStore& store) {
  ProgressLine progress(options.quiet);
  int exit_code = 0;
  std::size_t done = cells.size() - missing.size();
  for (const experiment::SweepCell& cell : missing) {
    if (!experiment::is_missing(store, execute.sweep_id, cell, repeat_margin)) continue;
    progress.set_heading(cell_heading(cell, done++, repeat_margin > 0 ? 0 : cells.size()));
    execute.repetition = cell.repetition;
    execute.baseline_id = baseline_of(cell.run_case, execute.launcher, store);
    execute.watchdog = options.watchdog(cell.run_case);
    if (started != nullptr) execute.launcher = started->begin(cell);
    const store::RunRecord run = execute_logged_run(cell.run_case, execute, options, store, progress);
    progress.finish();
    if (store::was_stopped(run.state)) return static_cast<int>(ErrorCode::kInterrupted);
    if (run.state != store::RunState::kDone || !run.valid) {
      print_error(
          fmt::format("run {} failed: {}\n", run.id, printable(run.valid ? run.reason : run.invalid_reason)));
      exit_code = static_cast<int>(ErrorCode::kRunFailed);
    }
  }
  return exit_code;
}

experiment::SweepAxes axes_of(const SweepOptions& options) {
  experiment::SweepAxes axes;
  if (!options.nodes.empty()) axes.nodes = integer_list(options.nodes, "--nodes");
  if (!options.gpus.empty()) axes.gpus_per_node = integer_list(options.gpus, "--gpus");
  if (!options.batch_per_gpu.empty()) axes.batch = integer_list(options.batch_per_gpu, "--batch-per-gpu");
  if (!options.global_batch.empty()) axes.batch = integer_list(options.global_batch, "--global-batch");
  for (const AxisOption& option : kAxisOptions) {
    const std::string& values = options.others.at(option.field);
    if (values.empty()) continue;
    axes.others.push_back({option.field, text_list(values, option.name), option.name});
    for (std::string& value : axes.others.back().values) {
      if (option.field == std::string_view("link") && value == "none") value.clear();
      if (option.field == std::string_view("bucket_bytes")) value = std::to_string(bucket_bytes_of(value));
    }
  }
  for (const std::string& text : options.strategy_options) {
    const auto [key, values] = key_and_value(text, "--strategy-option");
    axes.others.push_back({"strategy_options." + key, text_list(values, "--strategy-option " + key)});
  }
  return axes;
}

/// Collectives have no scaling table: links are compared, or networks.
void print_results(const store::RunStore& store, const std::string& sweep_id, const SweepOptions& options) {
  const std::vector<store::RunRecord> runs = store.runs({.sweep_id = sweep_id});
  if (!runs.empty() && is_micro(runs.front().run_case)) {
    const bool by_link = !options.others.at("link").empty();
    const auto groups = analyzer::compare_by(store, runs, by_link ? "link" : "network");
    print(options.json ? reports::groups_json(groups, {}) + "\n"
                       : reports::groups_text(groups, {}, stdout_style()));
    return;
  }
  const analyzer::ScalingTable table = analyzer::scaling_table(store, sweep_id);
  print(options.json ? reports::scaling_json(table) + "\n"
                     : reports::scaling_text(table, stdout_style()) + reports::next_steps_text(reports::steps_in_store(reports::next_steps_data(table), options.db), stdout_style()));
}

/// What a program trains, and how, is its own: only where it runs can vary.
void check_axes_of_program(const SweepOptions& options) {
  if (options.program.program.empty()) return;
  for (const AxisOption& option : kAxisOptions) {
    const std::string_view field = option.field;
    if (options.others.at(option.field).empty() || field == "link" || field == "requested_network") continue;
    throw Error(ErrorCode::kBadInput, fmt::format("{} cannot be set for a program", option.name));
  }
  if (!options.global_batch.empty()) {
    throw Error(ErrorCode::kBadInput,
                "--global-batch cannot be set for a program; say its batch with --batch-per-gpu");
  }
}

/// The cells that the command line means.
std::vector<experiment::SweepCell> cells_of(SweepOptions& options) {
  check_axes_of_program(options);
  experiment::SweepAxes axes = axes_of(options);
  options.strategy_options.clear();  // they are axes
  resolve(options);
  axes.repeat = options.repeats.most;
  if (!options.global_batch.empty()) options.run_case.scaling = ScalingMode::kStrong;
  check_sku(options, options.run_case);
  auto cells = options.reference ? experiment::with_one_gpu(options.run_case, axes)
                                 : experiment::sweep_cells(options.run_case, axes);
  check_skus(options, cells);
  const auto is_smaller = [](const auto& a, const auto& b) { return a.run_case.world_size() < b.run_case.world_size(); };
  check_injected(std::max_element(cells.begin(), cells.end(), is_smaller)->run_case);
  return cells;
}

/// One job with all cells: as many nodes and ranks as the largest has, and the case on 1 GPU.
int emit_sweep(const CLI::App& command, SweepOptions& options, const EmitOptions& emit_options) {
  job::Job job = job_of(command, options, emit_options);
  job.command = "sweep";
  if (!options.reference) job.options.push_back("--baseline");
  job.run_case.nodes = job.run_case.gpus_per_node = 1;
  for (const experiment::SweepCell& cell : cells_of(options)) {
    check_emitted(cell.run_case);
    const int nodes = std::max(job.run_case.nodes, cell.run_case.nodes);
    const int gpus = std::max(job.run_case.gpus_per_node, cell.run_case.gpus_per_node);
    job.run_case = cell.run_case;
    job.run_case.nodes = nodes;
    job.run_case.gpus_per_node = gpus;
  }
  write_job(job, emit_options);
  return 0;
}

/// The sweep's runs and its table. `started`: its ranks, where others started them; they end with the returned code.
int run_sweep(SweepOptions& options, std::vector<experiment::SweepCell>& cells, StartedSweep* started) {
  const double margin = options.repeats.margin;
  auto store = open_store(options.db, store::OpenMode::kReadWrite);
  recover_runs(store);
  experiment::ExecuteOptions execute;
  execute.executable = own_executable();
  execute.launcher = options.launcher.launcher;
  execute.preemption_grace = options.grace();
  if (!options.fresh) execute.sweep_id = experiment::unfinished_sweep(store, cells, margin);
  const bool resumes = !execute.sweep_id.empty();
  if (!resumes) execute.sweep_id = experiment::new_sweep_id(cells, margin);
  settle_sku(options, store, execute.sweep_id, cells);
  const auto missing = experiment::missing_cells(store, execute.sweep_id, cells, margin);
  if (resumes && !options.quiet) {
    print_error(fmt::format("resuming {}: {} of {} runs are done (--fresh starts anew)\n", execute.sweep_id,
                            cells.size() - missing.size(), cells.size()));
  }
  const int exit_code = run_cells(cells, missing, margin, execute, options, started, store);
  if (started != nullptr) started->finish(exit_code);
  if (margin > 0 && !options.quiet) {
    for (const std::string& end : experiment::ends_of_repeats(store, execute.sweep_id, cells, margin))
      print_error(fmt::format("{}\n", end));
  }
  try {
    print_results(store, execute.sweep_id, options);
  } catch (const Error& error) {
    if (exit_code == 0) throw;
    print_error(fmt::format("{}\n", printable(error.message())));
  }
  return exit_code;
}

/// Largest sizes that the memory of this machine holds, where the ranks are on it. Of all memory, as what is available changes, and then a
/// sweep that was cut short would not be found again.
void limit_micro_cells(const launch::LauncherOptions& launcher, std::vector<experiment::SweepCell>& cells) {
  const auto measures_collectives = [](const experiment::SweepCell& cell) { return is_micro(cell.run_case); };
  if (launcher.launcher != launch::Launcher::kLocal || std::none_of(cells.begin(), cells.end(), measures_collectives)) return;
  const auto bytes = host::inspect_machine().memory_bytes;
  for (experiment::SweepCell& cell : cells) {
    if (bytes && measures_collectives(cell)) micro::limit_max_bytes(cell.run_case, *bytes);
  }
}

int sweep(SweepOptions& options) {
  auto cells = cells_of(options);
  const launch::LauncherOptions& launcher = options.launcher.launcher;
  limit_micro_cells(launcher, cells);
  for (const experiment::SweepCell& cell : cells) {
    experiment::check_startable(cell.run_case, launcher);
    if (options.repeats.margin > 0 && is_micro(cell.run_case))
      throw Error(ErrorCode::kBadInput, "--repeat auto has no use with --workload micro: it has no step time");
  }
  if (launcher.launcher != launch::Launcher::kEnv) return run_sweep(options, cells, nullptr);
  StartedSweep started(launcher, cells);
  if (is_other_started_rank(options.launcher)) return started.follow(experiment::checkpoint_base(store_path(options.db), {}));
  started.gather();
  try {
    return run_sweep(options, cells, &started);
  } catch (const Error& error) {
    started.finish(error.exit_code());
    throw;
  }
}

void add_axis_options(CLI::App& command, SweepOptions& options) {
  command.get_option("--strategy-option")->description("Option of the strategy as key=value,value..., e.g. -S hook=none,fp16");
  for (const AxisOption& axis : kAxisOptions) {
    std::string group = "Options";
    if (CLI::Option* single = command.get_option_no_throw(axis.name)) {
      group = single->get_group();
      command.remove_option(single);
    }
    command.add_option(axis.name, options.others[axis.field], axis.help)->group(group);
  }
}

}  // namespace

void add_sweep_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("sweep", "Run a matrix of cases and print the scaling table");
  const auto options = std::make_shared<SweepOptions>();
  command->add_option("--nodes", options->nodes, "Nodes, e.g. 1,2,4");
  command->add_option("--gpus", options->gpus, "GPUs a node, e.g. 1,2,4");
  auto* per_gpu = command->add_option("--batch-per-gpu", options->batch_per_gpu,
                                      "Samples per GPU and step, e.g. 32,64: weak scaling (default 64)");
  command
      ->add_option("--global-batch", options->global_batch,
                   "Samples per step over all GPUs, e.g. 256,512: strong scaling")
      ->excludes(per_gpu);
  command->add_flag("--baseline", options->reference, "Measure each case on 1 GPU, too, where the sweep does not: what efficiency is stated against");
  command->add_flag("--fresh", options->fresh, "Start anew even if the same sweep was cut short before");
  add_run_options(*command, *options);
  add_axis_options(*command, *options);
  add_examples(*command, {{"sweep --nodes 1,2,4 --gpus 1,2", "a scaling table"},
                          {"sweep --gpus 4 --bucket-mb 1,5,25", "one option in several values; the fastest is named"},
                          {"sweep --gpus 4 -S hook=none,fp16 -S overlap=on,off --repeat 3", "options of the strategy"},
                          {"sweep --gpus 1,2,4 --global-batch 256 --repeat 3", "strong scaling with intervals"},
                          {"sweep --nodes 1,2,4 --gpus 8 --sku ND96asr_v4 --emit azureml -o job.yml", "a job that yields a curve"}});
  const auto emit_options = std::make_shared<EmitOptions>();
  add_emit_options(*command, *emit_options);
  command->callback([&action, options, emit_options, command] {
    refuse_inapplicable(*command, options->program);
    if (!emit_options->format.empty()) {
      action = [options, emit_options, command] { return emit_sweep(*command, *options, *emit_options); };
      return;
    }
    action = [options] { return sweep(*options); };
  });
}

}  // namespace ddbench::cli
