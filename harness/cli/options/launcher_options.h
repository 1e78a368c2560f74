#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/run_case/run_case.h"
#include "harness/launch/launch.h"
#include "harness/launch/worker/own_command.h"

namespace CLI {
class App;
}

namespace ddbench::cli {

/// Who starts the ranks, and where: of every subcommand that runs something.
struct LauncherCommandOptions {
  std::string name = "auto";
  std::string hosts;  ///< "a,b:4"
  std::string spans = "auto";
  std::string arguments;  ///< one string, as a shell would split it
  double start_timeout_s = 120;
  launch::LauncherOptions launcher;  ///< after resolve()
};

void add_launcher_options(CLI::App& app, LauncherCommandOptions& options);

/// Chooses the launcher and, in a world that others have started, makes its nodes and ranks the case's.
/// Throws Error{kBadInput} naming the option.
void resolve(LauncherCommandOptions& options, RunCase& run_case);

/// Whether others have started this process as a rank other than 0. After resolve().
bool is_other_started_rank(const LauncherCommandOptions& options);

/// In a process that others have started as a rank other than 0: is that rank, and returns its exit code.
/// Nothing elsewhere. `own`: what this command line says. After resolve().
std::optional<int> be_started_rank(const LauncherCommandOptions& options, const launch::OwnCommand& own);

}  // namespace ddbench::cli
