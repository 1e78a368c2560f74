#include "harness/cli/options/step_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "core/error.h"
#include "core/text/number.h"
#include "core/run_case/program_case.h"
#include "harness/experiment/sweep/repeat_rule.h"

namespace ddbench::cli {
namespace {

constexpr const char* kAuto = "auto";
constexpr double kMarginPercent = 1;
constexpr double kMaxTime_s = 20;
constexpr int kMostFixedRepeats = 10000;

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::kBadInput, why);
}

int whole_number(const char* option, const std::string& text, int most) {
  const auto number = number_from<int>(text);
  if (!number || *number < 1 || *number > most) {
    refuse(fmt::format("{} is \"{}\", but it must be auto or a whole number from 1 to {}", option, text, most));
  }
  return *number;
}

double margin_of(const StepOptions& options) {
  const double percent = options.margin_percent.value_or(kMarginPercent);
  if (!(percent > 0) || percent > 100)
    refuse(fmt::format("--margin is {}, but it must be above 0 and at most 100%", percent));
  return percent / 100;
}

/// Why the run cannot end by its margin; null where it can.
const char* own_end_of(const RunCase& run_case) {
  if (is_program(run_case)) return "a program has its own steps";
  return run_case.target_loss > 0 ? "--target-loss ends the run" : nullptr;
}

}  // namespace

void add_step_options(CLI::App& app, StepOptions& options, const std::string& group) {
  app.add_option("--steps", options.steps,
                 "Measured optimizer steps. auto: until the 95% interval of the step time is within +-margin, and that of the "
                 "probes' cost within +-0.5% of a step, after at least 60 steps and 3 s; at most --max-time")
      ->group(group)
      ->default_str(kAuto);
  app.add_option("--margin", options.margin_percent,
                 "With --steps auto or --repeat auto: half of the interval's width to reach, in percent")
      ->group(group)
      ->default_str(fmt::format("{}", kMarginPercent));
  app.add_option("--max-time", options.max_time_s, "With --steps auto: seconds of measured steps after which the run ends")
      ->group(group)
      ->default_str(fmt::format("{}", kMaxTime_s));
  app.add_option("--repeat", options.repeat,
                 "How often each case is run. auto: until the interval of the step time over runs is within +-margin, 5 to "
                 "10 times")
      ->group(group)
      ->capture_default_str();
}

void apply_steps(const StepOptions& options, RunCase& run_case) {
  const char* const own_end = own_end_of(run_case);
  const bool is_number = options.steps && *options.steps != kAuto;
  if (is_number) run_case.steps = whole_number("--steps", *options.steps, kMostSteps);
  if (own_end != nullptr && options.steps == kAuto) refuse(fmt::format("--steps auto has no use here: {}", own_end));
  const bool ends_by_margin = !is_number && own_end == nullptr;
  if (!ends_by_margin && options.max_time_s)
    refuse("--max-time has no use without --steps auto");
  if (!ends_by_margin && options.repeat != kAuto && options.margin_percent)
    refuse("--margin has no use without --steps auto or --repeat auto");
  if (!ends_by_margin) return;
  run_case.steps = kMostSteps;
  run_case.margin = margin_of(options);
  run_case.max_time_s = options.max_time_s.value_or(kMaxTime_s);
}

Repeats repeats_of(const StepOptions& options) {
  if (options.repeat == kAuto) return {experiment::kMostRepeats, margin_of(options)};
  return {whole_number("--repeat", options.repeat, kMostFixedRepeats), 0};
}

}  // namespace ddbench::cli
