#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/run_case/run_case.h"

namespace CLI {
class App;
}

namespace ddbench::cli {

/// What `run`, `sweep` and each side of `gate --run` take after --, and the options that are of a program only.
struct ProgramOptions {
  std::vector<std::string> program;  ///< with its arguments; empty: a reference workload is run
  bool per_node = false;
  bool no_python_marks = false;
  std::optional<int> skip;
  std::optional<int> measure;
  std::optional<double> duration_s;
  std::string after;  ///< "stop" or "continue"; empty: not given
};

void add_program_options(CLI::App& app, ProgramOptions& options);

/// Refuses the options given to `app` that do not apply: to a program, those of the reference workloads, and the reverse; and those
/// that have no effect beside the others (`--prefetch` without loader threads). Throws Error{kBadInput} naming the option.
void refuse_inapplicable(const CLI::App& app, const ProgramOptions& options);

/// Makes it the program's case, if there is one: it states what ddbench knows about the program, which
/// excludes how, with what and on how many samples it computes. Throws Error{kBadInput} naming the option.
void apply(const ProgramOptions& options, RunCase& run_case);

}  // namespace ddbench::cli
