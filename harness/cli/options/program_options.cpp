#include "harness/cli/options/program_options.h"

#include <CLI/CLI.hpp>

#include "core/error.h"
#include "core/run_case/program_case.h"

namespace ddbench::cli {

void add_program_options(CLI::App& app, ProgramOptions& options) {
  app.add_flag(
      "--per-node", options.per_node,
      "Start the program once a node, with NODE_RANK and NNODES: for mpirun, torchrun and others that start "
      "their ranks by themselves");
  app.add_option("PROGRAM", options.program,
                 "-- PROGRAM [ARGS...]: run this program on every rank instead of a built-in workload, with the "
                 "variables of torchrun (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, ...). --batch-per-gpu "
                 "states its samples per rank and step");
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
