#include "harness/cli/options/program_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <set>
#include <string_view>

#include "core/error.h"
#include "core/run_case/program_case.h"

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
}

void apply(const ProgramOptions& options, RunCase& run_case) {
  if (options.program.empty()) return;
  set_program(run_case, options.program, options.per_node ? ProgramStart::kPerNode : ProgramStart::kPerRank).python_marks =
      !options.no_python_marks;
  apply_window(options, run_case);
  if (options.after == "stop") run_case.after = AfterWindow::kStop;
}

}  // namespace ddbench::cli
