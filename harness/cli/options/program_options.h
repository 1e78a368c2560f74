#pragma once

#include <string>
#include <vector>

#include "core/run_case/run_case.h"

namespace CLI {
class App;
}

namespace ddbench::cli {

/// What `run`, `sweep` and each side of `gate --run` take after --.
struct ProgramOptions {
  std::vector<std::string> program;  ///< with its arguments; empty: a reference workload is run
  bool per_node = false;
};

void add_program_options(CLI::App& app, ProgramOptions& options);

/// Makes it the program's case, if there is one: what is said of it is what ddbench knows, not what it
/// computes with, nor how, nor on how many samples. Throws Error{kBadInput} naming the option.
void apply(const ProgramOptions& options, RunCase& run_case);

}  // namespace ddbench::cli
