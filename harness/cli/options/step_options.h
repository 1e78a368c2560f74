#pragma once

#include <optional>
#include <string>

#include "core/run_case/run_case.h"

namespace CLI {
class App;
}

namespace ddbench::cli {

/// How many steps a run measures and how often each case is run, as given.
struct StepOptions {
  std::optional<std::string> steps;  ///< "auto" or a number; absent: auto where it applies
  std::optional<double> margin_percent;
  std::optional<double> max_time_s;
  std::string repeat = "1";  ///< "auto" or a number
};

/// How often each case is run.
struct Repeats {
  int most = 1;
  double margin = 0;  ///< above 0: experiment::end_of_repeats decides; a share of the step time

  bool end_by_margin() const noexcept { return margin > 0; }
};

void add_step_options(CLI::App& app, StepOptions& options, const std::string& group);

/// Puts the steps into the case: those of a program, and of training to a target loss, end by themselves. Throws
/// Error{kBadInput} naming the option.
void apply_steps(const StepOptions& options, RunCase& run_case);

/// Throws Error{kBadInput} naming the option.
Repeats repeats_of(const StepOptions& options);

}  // namespace ddbench::cli
