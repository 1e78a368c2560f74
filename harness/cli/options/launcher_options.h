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
  std::string gpu_detail;  ///< "": as $DDBENCH_GPU_DETAIL has it
  std::string arguments;  ///< one string, as a shell would split it
  double start_timeout_s = 120;
  bool names_nodes = false;  ///< --nodes was given
  bool names_gpus = false;   ///< --gpus was given
  launch::LauncherOptions launcher;  ///< after resolve()
};

void add_launcher_options(CLI::App& app, LauncherCommandOptions& options);

/// Chooses the launcher and, in a world that others have started, makes its nodes and ranks the case's.
/// Throws Error{kBadInput} naming the option.
void resolve(LauncherCommandOptions& options, RunCase& run_case);

/// Whether this process was started externally as a rank other than 0. Call after resolve().
bool is_other_started_rank(const LauncherCommandOptions& options);

/// In a process that was started externally as a rank other than 0: runs that rank, and returns its exit
/// code. Returns nothing in other processes. `own`: the content of this command line. Call after resolve().
std::optional<int> be_started_rank(const LauncherCommandOptions& options, const launch::OwnCommand& own);

}  // namespace ddbench::cli
