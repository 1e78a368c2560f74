#include "harness/cli/options/program_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "core/error.h"
#include "core/run_case/program_case.h"
#include "harness/cli/options/run_options.h"

namespace ddbench::cli {
namespace {

constexpr const char* kGroup = "Program";
// Default number of steps before a program's measuring window, if it has one: the run excludes them as its
// warm-up.
constexpr int kUsualSkip = 5;

[[noreturn]] void refuse_option(const std::string& why) {
  throw Error(ErrorCode::kBadInput, why);
}

int steps_of(const char* option, int value, int least) {
  if (value < least || value > kMostSteps)
    refuse_option(fmt::format("{} is {}, but it must be a whole number from {} to {}", option, value, least, kMostSteps));
  return value;
}

void apply_window(const ProgramOptions& options, RunCase& run_case) {
  const bool ends = options.measure || options.duration_s;
  if (!options.after.empty() && !ends)
    refuse_option("--after says what follows the measuring window: give its length with --measure or --duration");
  if (!options.skip && !ends) return;
  run_case.skip = steps_of("--skip", options.skip.value_or(kUsualSkip), 0);
  run_case.warmup = 0;
  if (options.measure) run_case.measure = steps_of("--measure", *options.measure, 1);
  if (!options.duration_s) return;
  if (!std::isfinite(*options.duration_s) || *options.duration_s <= 0 || *options.duration_s > 1e6)
    refuse_option(fmt::format("--duration is {}, but it must be above 0 and at most 1000000 seconds", *options.duration_s));
  run_case.duration_s = *options.duration_s;
}

bool is_given(const CLI::App& app, const char* name) {
  const CLI::Option* const option = app.get_option_no_throw(name);
  return option != nullptr && option->count() > 0;
}

/// The value of a run's option, the values of a sweep's, or its default.
std::vector<std::string> values_of(const CLI::App& app, const char* name, const char* usual) {
  return is_given(app, name) ? text_list(app.get_option(name)->results().back(), name) : std::vector<std::string>{usual};
}

/// What would be measured as if it had not been given. A sweep may have cases where it has an effect and others.
void refuse_without_effect(const CLI::App& app) {
  const auto stays_at = [&](const char* name, const char* usual) {
    const std::vector<std::string> values = values_of(app, name, usual);
    return std::all_of(values.begin(), values.end(), [usual](const std::string& value) { return value == usual; });
  };
  if (is_given(app, "--prefetch") && stays_at("--data-workers", "0"))
    refuse_option("--prefetch has no effect without loader threads: add --data-workers N");
  if (is_given(app, "--base-batch") && stays_at("--lr-rule", "none"))
    refuse_option("--base-batch has no effect without a rule for the learning rate: add --lr-rule linear or sqrt");
  const bool reads_checkpoints = is_given(app, "--resume") || is_given(app, "--continue");
  if (is_given(app, "--checkpoint-dir") && !reads_checkpoints && stays_at("--checkpoint-every", "0"))
    refuse_option("--checkpoint-dir has no effect on a run that neither writes nor reads checkpoints: add --checkpoint-every K");
  const std::vector<std::string> strategies = values_of(app, "--strategy", "ddp");
  const auto has_buckets = [](const std::string& strategy) { return strategy != "horovod" && strategy != "mirrored"; };
  if (!is_given(app, "--bucket-mb")) return;
  // Several sizes would give cases of the same work.
  if (std::any_of(strategies.begin(), strategies.end(), has_buckets) && values_of(app, "--bucket-mb", "").size() == 1) return;
  for (const std::string& strategy : strategies) {
    if (strategy == "horovod") refuse_option("--bucket-mb has no effect with --strategy horovod: -S fusion_mb=MIB sizes its fusion buffer");
    if (strategy == "mirrored") refuse_option("--bucket-mb has no effect with --strategy mirrored: -S pack_mb=MIB sizes its packs");
  }
}

}  // namespace

void add_program_options(CLI::App& app, ProgramOptions& options) {
  app.add_flag("--per-node", options.per_node,
               "Start the program once a node, with NODE_RANK and NNODES: for mpirun, torchrun and others that start "
               "their ranks by themselves")
      ->group(kGroup);
  app.add_option("--skip", options.skip, "Steps of the program before its measuring window (default with a window: 5)")
      ->group(kGroup);
  app.add_option("--measure", options.measure, "Steps of the measuring window; what is recorded outside is not kept")
      ->group(kGroup);
  app.add_option("--duration", options.duration_s, "Seconds after which the measuring window ends")->group(kGroup);
  app.add_option("--after", options.after,
                 "What becomes of the program after its window: continue (to its own end, the default) or stop (SIGTERM)")
      ->check(CLI::IsMember({"stop", "continue"}))
      ->group(kGroup);
  app.add_flag("--no-python-marks", options.no_python_marks,
               "Do not mark data loading, backward and optimizer steps inside Python programs that use PyTorch")
      ->group(kGroup);
  app.add_option("PROGRAM", options.program,
                 "-- PROGRAM [ARGS...]: run this program on every rank instead of a built-in workload, with the "
                 "variables of torchrun (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, ...); `run` without --nodes and "
                 "--gpus starts it once, as a shell does, without them. --batch-per-gpu states its samples per rank and step");
}

void refuse_inapplicable(const CLI::App& app, const ProgramOptions& options) {
  const bool is_program = !options.program.empty();
  static const std::set<std::string_view> kOfBoth{"--repeat", "--margin", "--warmup", "--max-time", "--steps"};
  static const std::set<std::string_view> kOfWorkloads{"Training", "Optimizer", "Strategy", "Checkpoints"};
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0) continue;
    if (!is_program && option->get_group() == kGroup)
      refuse_option(fmt::format("{} is for a program of yours: it needs one after --", name));
    const bool of_workloads = (kOfWorkloads.contains(option->get_group()) && !kOfBoth.contains(name)) || name == "--cuda-graph";
    if (is_program && (of_workloads || (name == "--steps" && option->as<std::string>() != "auto"))) {
      refuse_option(fmt::format("{} is for the built-in workloads: a program decides that by itself{}", name,
                         name == "--steps" ? "; --skip and --measure choose the steps that are measured" : ""));
    }
    if (is_program && name == "--warmup" && (options.skip || options.measure || options.duration_s))
      refuse_option("--warmup cannot be combined with a measuring window: --skip says what comes before it");
  }
  refuse_without_effect(app);
}

void apply(const ProgramOptions& options, RunCase& run_case) {
  if (options.program.empty()) return;
  set_program(run_case, options.program, options.per_node ? ProgramStart::kPerNode : ProgramStart::kPerRank).python_marks =
      !options.no_python_marks;
  apply_window(options, run_case);
  if (options.after == "stop") run_case.after = AfterWindow::kStop;
}

}  // namespace ddbench::cli
