#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <span>

#include "analyzer/catalogue/sku_catalogue.h"
#include "analyzer/run/run_summary.h"
#include "analyzer/scaling/scaling.h"
#include "core/error.h"
#include "core/run_case/program_case.h"
#include "harness/cli/options/command.h"
#include "harness/cli/options/open_store.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/recover.h"
#include "harness/cli/options/shared_options.h"
#include "harness/cli/run/run_sku.h"
#include "harness/cli/run/ds_config.h"
#include "harness/cli/run/emit.h"
#include "harness/cli/run/logged_run.h"
#include "harness/cli/run/single_run.h"
#include "harness/experiment/recover/take_over.h"
#include "harness/experiment/run/execute_run.h"
#include "harness/experiment/run/resume.h"
#include "harness/experiment/sweep/repeat_rule.h"
#include "harness/launch/launch.h"
#include "harness/launch/remote/started_rank.h"
#include "reports/formats/json/json.h"
#include "reports/formats/prometheus/prometheus.h"
#include "reports/formats/terminal/text.h"
#include "reports/tables/next_steps.h"

namespace ddbench::cli {
namespace {

/// On standard output, and in the file for Prometheus where one is wanted.
void show_result(const SingleRunOptions& options, const MetricsFile& metrics, const store::RunStore& store,
                 const analyzer::SkuCatalogue& catalogue, const store::RunRecord& run) {
  const analyzer::RunSummary summary = analyzer::summarize(store, run.id, catalogue);
  print(options.json ? reports::run_json(summary) + "\n"
                     : reports::run_text(summary, stdout_style()) + reports::next_steps_text(reports::steps_in_store(reports::next_steps_data(store, summary), options.db), stdout_style()));
  if (metrics.is_wanted()) metrics.replace(reports::runs_prometheus(std::span(&summary, 1)));
}

/// A run continues as it was started: no option of its case can be changed.
void refuse_other_options(const CLI::App& command) {
  static const std::set<std::string> kAllowed{"--resume", "--checkpoint-dir", "--db",   "--json",
                                              "--quiet",  "--timeout",        "--grace", "--force"};
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || kAllowed.count(option->get_name()) > 0) continue;
    if (option->get_group() == "Launcher") continue;
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("--resume continues a run as it was started; it takes no {}", option->get_name()));
  }
}

/// Several runs of one name would all be the one to go on with.
void check_continue(const SingleRunOptions& options) {
  if (options.force && !options.go_on) throw Error(ErrorCode::kBadInput, "--force needs --resume or --continue: there is nothing to force");
  if (!options.go_on) return;
  const char* missing = options.run_case.name.empty() ? "needs --name, to find the run that it continues"
                        : options.run_case.checkpoint_every == 0 ? "requires --checkpoint-every"
                        : options.repeats.most > 1 ? "continues one run: --repeat cannot be with it"
                                             : nullptr;
  if (missing != nullptr) throw Error(ErrorCode::kBadInput, std::string("--continue ") + missing);
}

int resume(const SingleRunOptions& options, const MetricsFile& metrics, store::RunStore& store, experiment::Resume found) {
  const auto catalogue = analyzer::SkuCatalogue::load();  // report a bad one before the run, not after
  experiment::ExecuteOptions execute;
  execute.executable = own_executable();
  execute.launcher = options.launcher.launcher;
  execute.preemption_grace = options.grace();
  execute.resume = std::move(found);
  const store::RunRecord& stopped = execute.resume->run;
  execute.watchdog = options.watchdog(stopped.run_case);
  for (const std::string& damage : execute.resume->checkpoint.damaged) {
    print_error(fmt::format("passed over: {}\n", printable(damage)));
  }
  experiment::check_startable(stopped.run_case, options.launcher.launcher);
  execute.sweep_id = stopped.sweep_id;
  execute.baseline_id = stopped.baseline_id;
  execute.is_baseline = stopped.is_baseline;
  execute.repetition = stopped.repetition;

  ProgressLine progress(options.quiet);
  progress.set_metrics_file(metrics);
  progress.set_heading(fmt::format("from step {}", execute.resume->checkpoint.steps_done));
  const store::RunRecord last = execute_logged_run(stopped.run_case, execute, options, store, progress);
  progress.finish();
  show_result(options, metrics, store, catalogue, last);
  return exit_code_of(last);
}

/// Takes the run over so that it can be continued: no other process may still drive it.
void take_over(const SingleRunOptions& options, store::RunStore& store, const store::RunRecord& run, bool waits) {
  const auto announce = [](const std::string& what) { print_error("note: " + printable(what) + "\n"); };
  experiment::take_over(store, run.id, {.forced = options.force, .waits = waits, .announce = announce});
}

struct Completed {
  bool closed = false;  ///< it is stored as done now
  std::string words;
};

/// Of a run that was stopped after its last step: nothing is left to train.
Completed close_complete(store::RunStore& store, const experiment::Resume& found) {
  const bool closed = experiment::close_if_complete(store, found.run.id);
  return {closed, fmt::format("run {} had done all its steps: there is nothing to continue, and it is stored as done", found.run.id)};
}

int resume(SingleRunOptions& options) {
  resolve(options);
  if (const auto exit_code = be_started_rank(options.launcher, {})) return *exit_code;
  const auto path = store_path(options.db);
  store::RunStore::open(path, store::OpenMode::kReadOnly);  // one that is missing must not be created
  auto store = open_store(options.db, store::OpenMode::kReadWrite);
  recover_runs(store);
  const store::RunRecord named = store.find(options.resume);
  const store::RunRecord newest = experiment::newest_continuation(store, named);
  if (newest.id != named.id)
    print_error(fmt::format("note: run {} was continued by run {}: that one is continued now\n", named.id, newest.id));
  take_over(options, store, newest, false);
  experiment::Resume found = experiment::find_resume(store, named.id, options.checkpoint_dir);
  if (found.has_all_steps() && !has_started_ranks(options)) {  // as go_on()
    if (const Completed completed = close_complete(store, found); completed.closed) throw Error(ErrorCode::kBadInput, completed.words);
  }
  return resume(options, MetricsFile(), store, std::move(found));
}

struct RepeatedRun {
  store::RunRecord last;
  std::string sweep_id;  ///< of all of them, where there may be several
  std::string end;       ///< of --repeat auto: why it ended, for people
};

/// Repetitions are one case measured several times: they share a sweep id, and the table at the end has their
/// interval.
RepeatedRun run_repeatedly(const SingleRunOptions& options, experiment::ExecuteOptions execute, store::RunStore& store,
                           ProgressLine& progress) {
  const Repeats& repeats = options.repeats;
  RepeatedRun result;
  if (repeats.most > 1) execute.sweep_id = result.sweep_id = "repeat-" + store::new_run_id();
  std::vector<double> step_times_ns;
  for (execute.repetition = 0; execute.repetition < repeats.most; ++execute.repetition) {
    const int number = execute.repetition + 1;
    progress.set_heading(repeats.most == 1         ? "run"
                         : repeats.end_by_margin() ? fmt::format("run {}", number)
                                                   : fmt::format("run {}/{}", number, repeats.most));
    result.last = execute_logged_run(options.run_case, execute, options, store, progress);
    progress.finish();
    if (exit_code_of(result.last) != 0) break;
    if (!repeats.end_by_margin()) continue;
    const auto step_time_ns = analyzer::summarize_briefly(store, result.last).step_time_ns;
    if (step_time_ns) step_times_ns.push_back(step_time_ns->value);
    const auto end = experiment::end_of_repeats(step_times_ns, repeats.margin);
    if (!end) continue;
    result.end = experiment::to_words(*end, repeats.margin);
    break;
  }
  return result;
}

/// Its figures are collectives by size, which the report of a run has no place for.
void refuse_micro(const RunCase& run_case) {
  if (is_micro(run_case))
    throw Error(ErrorCode::kBadInput, "collectives are measured by `ddbench micro`; `ddbench sweep --workload micro` compares networks or links");
}

/// Of --continue: the exit code where there was something to continue, else nothing.
std::optional<int> go_on(const SingleRunOptions& options, const MetricsFile& metrics, const analyzer::SkuCatalogue& catalogue,
                         store::RunStore& store) {
  if (const auto newest = experiment::newest_of_name(store, options.run_case.name)) take_over(options, store, *newest, true);
  auto unfinished = experiment::find_unfinished(store, options.run_case, options.checkpoint_dir);
  if (!unfinished) return std::nullopt;
  // Ranks that others started wait for a run: it ends at once, from its last checkpoint.
  if (!unfinished->has_all_steps() || has_started_ranks(options)) return resume(options, metrics, store, *std::move(unfinished));
  const Completed completed = close_complete(store, *unfinished);
  if (!completed.closed) return resume(options, metrics, store, *std::move(unfinished));
  print_error(fmt::format("note: {}\n", completed.words));
  const store::RunRecord done = *store.run(unfinished->run.id);
  show_result(options, metrics, store, catalogue, done);
  return exit_code_of(done);
}

int run(SingleRunOptions& options) {
  if (!options.resume.empty()) return resume(options);
  refuse_micro(options.run_case);
  resolve_single_run(options);
  refuse_repetitions_of_started_ranks(options);
  const launch::OwnCommand own{options.run_case,
                               experiment::checkpoint_base(store_path(options.db), options.checkpoint_dir)};
  if (const auto exit_code = be_started_rank(options.launcher, own)) return *exit_code;
  check_continue(options);

  const MetricsFile metrics = options.metrics_file.empty() ? MetricsFile() : MetricsFile(options.metrics_file);
  const auto catalogue = analyzer::SkuCatalogue::load();
  auto store = open_store(options.db, store::OpenMode::kReadWrite);
  recover_runs(store);
  if (options.go_on) {
    if (const auto exit_code = go_on(options, metrics, catalogue, store)) return *exit_code;
  }
  ask_machine(options, options.run_case);  // after the search: an earlier start may have had no answer
  experiment::ExecuteOptions execute;
  execute.executable = own_executable();
  execute.watchdog = options.watchdog(options.run_case);
  execute.launcher = options.launcher.launcher;
  execute.preemption_grace = options.grace();
  execute.checkpoint_directory = options.checkpoint_dir;
  execute.sets_rank_variables = options.names_ranks;

  ProgressLine progress(options.quiet);
  progress.set_metrics_file(metrics);
  execute.baseline_id = obtain_baseline(options, execute, store, progress);
  const RepeatedRun repeated = run_repeatedly(options, std::move(execute), store, progress);
  show_result(options, metrics, store, catalogue, repeated.last);
  if (options.repeats.most > 1 && exit_code_of(repeated.last) == 0) {
    if (!options.json)
      print("\n" + reports::scaling_text(analyzer::scaling_table(store, repeated.sweep_id), stdout_style()));
    if (!repeated.end.empty() && !options.quiet) print_error(repeated.end + "\n");
  }
  return exit_code_of(repeated.last);
}

}  // namespace

namespace {

void take_ds_config(CLI::App& command, const SingleRunOptions& options, const std::string& file) {
  if (!options.program.program.empty())
    throw Error(ErrorCode::kBadInput, "--ds-config is for built-in workloads: a program reads its configuration itself. State its batch with --batch-per-gpu");
  int ranks = options.run_case.world_size();
  // As resolve() will choose: ranks that others start are counted there.
  launch::LauncherOptions launcher = options.launcher.launcher;
  if (!options.launcher.hosts.empty()) launcher.hosts = {options.launcher.hosts};
  if (launch::choose_launcher(options.launcher.name, launcher) == launch::Launcher::kEnv) {
    const launch::StartedWorld world = launch::started_world();
    ranks = world.nodes * world.gpus_per_node;
  }
  apply_ds_config(command, file, ranks);
  command.get_option("--ds-config")->clear();  // an emitted job has the options instead
}

int emit_run(const CLI::App& command, SingleRunOptions& options, const EmitOptions& emit_options) {
  job::Job job = job_of(command, options, emit_options);
  resolve_case(options);
  refuse_repetitions(options, emit_options, "ddbench sweep --repeat N --emit");
  check_emitted(options.run_case);
  job.run_case = options.run_case;
  write_job(job, emit_options);
  return 0;
}

}  // namespace

void add_run_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "run", "Train one case on nodes x GPUs, or a program of yours, and measure every step");
  const auto options = std::make_shared<SingleRunOptions>();
  add_single_run_options(*command, *options);
  command
      ->add_option(
          "--resume", options->resume,
          "Continue a run that was stopped, or the newest run that continues it, from its newest good checkpoint: an id or a part of "
          "one, a name, or last")
      ->group("Checkpoints");
  command
      ->add_flag("--continue", options->go_on,
                 "Continue the newest run of this --name if it was stopped and left a checkpoint, else "
                 "start: for jobs that a "
                 "scheduler starts again")
      ->group("Checkpoints");
  command
      ->add_flag("--force", options->force,
                 "With --resume or --continue: also continue a run that another ddbench seems to drive. That one ends when it "
                 "notices")
      ->group("Checkpoints");
  command
      ->add_option("--checkpoint-dir", options->checkpoint_dir,
                   "Where runs have their folders of checkpoints (default: <store>.checkpoints)")
      ->group("Checkpoints");
  command->add_option("--metrics-file", options->metrics_file,
                      "Write about once a second how the run goes, for Prometheus: steps, their rate, communication, who holds the "
                      "others up; at the end what `report --format prometheus` writes");
  const auto ds_config = std::make_shared<std::string>();
  command->add_option("--ds-config", *ds_config,
                      "Take batch, accumulation, ZeRO stage, bucket size, precision, optimizer and learning rate from DeepSpeed's "
                      "configuration; a note lists what was not read. For built-in workloads")
      ->group("Training");
  const auto emit_options = std::make_shared<EmitOptions>();
  add_emit_options(*command, *emit_options);
  add_examples(*command,
               {{"run --nodes 4 --gpus 4", "16 ranks on 4 nodes; efficiency, and where it was lost"},
                {"run --nodes 2 --gpus 2 --link 1gbit", "the same over a slow network"},
                {"run --gpus 4 --margin 0.5 --max-time 60", "steps until the step time is within +-0.5%, at most a minute"},
                {"run --workload gpt2-nano --global-batch 64 --gpus 2", "strong scaling"},
                {"run --gpus 4 -- python3 train.py", "a program of your own, unchanged"},
                {"run --nodes 4 --gpus 8 --emit sbatch -o job.sh", "a job file for Slurm instead of a run"}});
  command->callback([&action, options, emit_options, ds_config, command] {
    if (!options->resume.empty()) refuse_other_options(*command);
    if (!ds_config->empty()) take_ds_config(*command, *options, *ds_config);
    if (options->resume.empty()) refuse_inapplicable(*command, options->program);
    if (!emit_options->format.empty()) {
      action = [options, emit_options, command] { return emit_run(*command, *options, *emit_options); };
      return;
    }
    action = [options] { return run(*options); };
  });
}

}  // namespace ddbench::cli
