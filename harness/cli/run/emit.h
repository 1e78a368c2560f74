#pragma once

#include <string>

#include "harness/cli/run/single_run.h"

namespace ddbench::cli {

/// `ddbench run --emit`: the file that starts the case elsewhere, instead of running it here.
struct EmitOptions {
  std::string format;  ///< empty: the case is run
  std::string output;  ///< empty: standard output
  std::string image;
  std::string compute;
};

void add_emit_options(CLI::App& command, EmitOptions& options);

/// Writes the job file of the case that `command` was given. Nothing is started, stored or submitted. Throws
/// Error{kBadInput} for a case that is none, and Error{kEnvironment} when the file cannot be written.
void emit(const CLI::App& command, SingleRunOptions& options, const EmitOptions& emit_options);

}  // namespace ddbench::cli
