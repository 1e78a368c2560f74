#include <CLI/CLI.hpp>
#include <memory>

#include "harness/cli/options/command.h"
#include "harness/launch/remote/started_rank.h"
#include "harness/launch/worker/run_worker.h"

namespace ddbench::cli {

void add_worker_command(CLI::App& app, Action& action) {
  // Started by ddbench itself: one process a rank, not for people.
  CLI::App* command = app.add_subcommand("worker", "One rank of a run (started by ddbench)")->group("");
  const auto control_fd = std::make_shared<int>(-1);
  command->add_option("--control-fd", *control_fd,
                      "Inherited socket to the launcher; else DDBENCH_LAUNCHER names it");
  command->callback([&action, control_fd] {
    action = [control_fd] {
      return *control_fd >= 0 ? launch::run_worker(*control_fd) : launch::run_remote_worker();
    };
  });
}

}  // namespace ddbench::cli
