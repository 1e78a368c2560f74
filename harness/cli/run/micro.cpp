#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "analyzer/catalogue/rated_link.h"
#include "analyzer/catalogue/sku_catalogue.h"
#include "analyzer/collectives/micro_table.h"
#include "core/error.h"
#include "harness/cli/options/open_store.h"
#include "harness/cli/options/command.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/progress_line.h"
#include "harness/cli/options/run_options.h"
#include "harness/cli/options/recover.h"
#include "harness/cli/options/shared_options.h"
#include "harness/cli/run/emit.h"
#include "harness/cli/run/run_sku.h"
#include "harness/cli/run/single_run.h"
#include "harness/experiment/run/execute_run.h"
#include "harness/microbench/micro.h"
#include "harness/microbench/plan.h"
#include "probes/machine/machine.h"
#include "reports/formats/terminal/micro.h"

namespace ddbench::cli {
namespace {

struct MicroCommandOptions {
  RunOptions run;
  std::string operations;
  std::string min_bytes = "8";
  std::string max_bytes;
  std::string factor = "2";
  std::string seconds = "0.1";
};

/// The limit from this machine's memory, if the user gave none.
std::string usual_max_bytes(const RunCase& run_case) {
  const host::Machine machine = host::inspect_machine();
  if (!machine.available_memory_bytes) return "64M";
  return std::to_string(micro::usual_max_bytes(*machine.available_memory_bytes, run_case.world_size()));
}

/// Sizes are stored as plain numbers, so that 1M and 1024K are one case.
void set_case(MicroCommandOptions& options) {
  resolve(options.run);
  RunCase& run_case = options.run.run_case;
  validate(run_case);
  check_sku(options.run, run_case);
  run_case.batch_per_gpu = 1;
  run_case.warmup = 0;
  run_case.steps = 100;  // progress is counted in hundredths
  run_case.margin = run_case.max_time_s = 0;
  if (options.run.repeats.end_by_margin())
    throw Error(ErrorCode::kBadInput, "--repeat auto has no use with micro, which has no step time: give a number");
  const std::string largest = options.max_bytes.empty() ? usual_max_bytes(run_case) : options.max_bytes;
  WorkOptions& given = run_case.work.emplace<Microbenchmark>().options;
  given["min_bytes"] = std::to_string(micro::parse_bytes(options.min_bytes, "--min-bytes"));
  given["max_bytes"] = std::to_string(micro::parse_bytes(largest, "--max-bytes"));
  given["factor"] = options.factor;
  given["seconds"] = options.seconds;
  if (!options.operations.empty()) given["operations"] = options.operations;
}

/// Of each operation the size that comes closest to what the catalogue says of the network.
void note_rated_link(analyzer::MicroTable& table) {
  if (table.run.run_case.sku.empty()) return;
  const auto link = analyzer::rated_link(table.run, analyzer::SkuCatalogue::load());
  if (!link) return;
  std::map<analyzer::MicroOperation, const analyzer::MicroRow*> best;
  for (const analyzer::MicroRow& row : table.rows) {
    const std::string function(analyzer::to_string(row.operation));
    if (!analyzer::share_of_link(function, row.usual().busbw_gb_per_s, *link)) continue;
    const analyzer::MicroRow*& found = best[row.operation];
    if (found == nullptr || row.usual().busbw_gb_per_s > found->usual().busbw_gb_per_s) found = &row;
  }
  for (const auto& [operation, row] : best)
    table.notes.push_back(analyzer::achieved_in_words(std::string(analyzer::to_string(operation)), static_cast<double>(row->bytes),
                                                      row->usual().busbw_gb_per_s, *link));
}

int micro(MicroCommandOptions& options) {
  set_case(options);
  refuse_repetitions_of_started_ranks(options.run);
  const launch::LauncherOptions& launcher = options.run.launcher.launcher;
  experiment::check_startable(options.run.run_case, launcher);
  if (const auto exit_code = be_started_rank(options.run.launcher, {options.run.run_case, {}}))
    return *exit_code;
  ask_machine(options.run, options.run.run_case);
  auto store = open_store(options.run.db, store::OpenMode::kReadWrite);
  recover_runs(store);
  experiment::ExecuteOptions execute;
  execute.executable = own_executable();
  execute.watchdog = options.run.watchdog(options.run.run_case);
  execute.launcher = launcher;
  execute.preemption_grace = options.run.grace();
  if (options.run.repeats.most > 1) execute.sweep_id = "repeat-" + store::new_run_id();
  ProgressLine progress(options.run.quiet);
  store::RunRecord run;
  for (execute.repetition = 0; execute.repetition < options.run.repeats.most; ++execute.repetition) {
    progress.set_heading("micro");
    run = experiment::execute_run(options.run.run_case, execute, store, progress);
    progress.finish();
    if (const int exit_code = exit_code_of(run); exit_code != 0) {
      if (!store::was_stopped(run.state))
        print_error(
            fmt::format("run {} failed: {}\n", run.id,
                        printable(run.state == store::RunState::kDone ? run.invalid_reason : run.reason)));
      return exit_code;
    }
  }
  analyzer::MicroTable table = analyzer::micro_table(store, run);
  note_rated_link(table);
  print(options.run.json ? reports::micro_json(table) + "\n" : reports::micro_text(table, stdout_style()));
  return 0;
}

int emit_micro(const CLI::App& command, MicroCommandOptions& options, const EmitOptions& emit_options) {
  job::Job job = job_of(command, options.run, emit_options);
  job.command = "micro";
  set_case(options);
  refuse_repetitions(options.run, emit_options, "ddbench sweep --workload micro -O operations=... -O max_bytes=... --repeat N --emit");
  job.run_case = options.run.run_case;
  write_job(job, emit_options);
  return 0;
}

}  // namespace

void add_micro_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "micro", "Benchmark collectives by message size, plus peak GEMM and memory bandwidth");
  const auto options = std::make_shared<MicroCommandOptions>();
  RunOptions& run = options->run;
  command->add_option("--nodes", run.run_case.nodes, "Nodes (on one machine: network namespaces)")
      ->each([&run](const std::string&) { run.launcher.names_nodes = true; })
      ->capture_default_str();
  command->add_option("--gpus", run.run_case.gpus_per_node, "GPUs a node; with --device cpu, ranks a node")
      ->each([&run](const std::string&) { run.launcher.names_gpus = true; })
      ->capture_default_str();
  command->add_option("--link", run.run_case.link, "Shape each inter-node link, e.g. 1gbit or 100mbit");
  add_choice(*command, "--network", run.run_case.requested_network,
             "Network that NCCL uses between nodes: ib or ethernet");
  command->add_option(
      "--operations", options->operations,
      "all_reduce, all_gather, reduce_scatter, broadcast, all_to_all, gemm, copy (default: all)");
  command->add_option("-b,--min-bytes", options->min_bytes, "Smallest size, as nccl-tests count it")
      ->capture_default_str();
  command->add_option("-e,--max-bytes", options->max_bytes,
                      "Largest size, up to 1G (default: 64M, less where memory is short)");
  command->add_option("-f,--factor", options->factor, "From a size to the next")->capture_default_str();
  command->add_option("--seconds", options->seconds, "For one size; large sizes take longer")
      ->capture_default_str();
  command->add_option("--repeat", run.steps.repeat, "Number of repetitions")->capture_default_str();
  command->add_option("--device", run.device, "auto, cpu or cuda; auto is cuda where this machine has a GPU")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->capture_default_str();
  command
      ->add_option("--backend", run.backend,
                   "Collectives: auto, gloo, mpi (with --launcher mpirun) or nccl (GPUs); auto fits the "
                   "device")
      ->check(CLI::IsMember({"auto", "gloo", "mpi", "nccl"}))
      ->capture_default_str();
  add_sku_options(*command, run, "Options");
  command->add_option("--timeout", run.timeout_s, "Seconds without progress after which the run is stopped (default: 600)");
  add_launcher_options(*command, run.launcher);
  command->add_option("--name", run.run_case.name, "A name to find the run by");
  command->add_option("--tag", run.tags, "A label key=value")->take_all()->allow_extra_args(false);
  add_db_option(*command, run.db);
  add_json_option(*command, run.json, "micro.schema.json");
  add_quiet_option(*command, run.quiet);
  add_examples(*command, {{"micro --gpus 4", "collectives, GEMM and memory of this machine"},
                          {"micro --nodes 2 --gpus 2 --link 1gbit --operations all_reduce", "over a slow network"},
                          {"micro --gpus 8 -b 1M -e 256M", "larger messages only"}});
  const auto emit_options = std::make_shared<EmitOptions>();
  add_emit_options(*command, *emit_options);
  command->callback([&action, options, emit_options, command] {
    if (!emit_options->format.empty()) {
      action = [options, emit_options, command] { return emit_micro(*command, *options, *emit_options); };
      return;
    }
    action = [options] { return micro(*options); };
  });
}

}  // namespace ddbench::cli
