#include "program_options.h"

#include <CLI/CLI.hpp>

#include "ddbench/record/error.h"
#include "ddbench/record/program_case.h"

namespace ddbench::cli {

void add_program_options(CLI::App& app, ProgramOptions& options) {
  app.add_flag(
      "--per-node", options.per_node,
      "Start the program once a node, with NODE_RANK and NNODES: for mpirun, torchrun and others that start "
      "their ranks by themselves");
  app.add_option(
      "PROGRAM", options.program,
      "After --: a program and its arguments, started once a rank instead of a workload, with RANK, "
      "WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, ... as torchrun sets them. --batch-per-gpu says how many "
      "samples it trains on a step");
}

void apply(const ProgramOptions& options, RunCase& run_case) {
  if (options.program.empty()) {
    if (!options.per_node) return;
    throw Error(ErrorCode::kBadInput,
                "--per-node needs a program after --, as in --per-node -- mpirun -n 4 ./train");
  }
  set_program(run_case, options.program, options.per_node ? ProgramStart::kPerNode : ProgramStart::kPerRank);
}

}  // namespace ddbench::cli
