#pragma once

#include <string>
#include <vector>

#include "harness/cli/options/run_options.h"
#include "harness/launch/jobfile/job_file.h"

namespace CLI {
class App;
}

namespace ddbench::cli {

/// `--emit` of run, sweep and micro: writes the file that starts the case on another system, instead of
/// running it here.
struct EmitOptions {
  std::string format;  ///< empty: the case is run
  std::string output = "-";  ///< standard output
  std::string image;
  std::string environment;
  std::string compute;
  std::vector<std::string> inputs;  ///< "name=path"
  std::string distribution = "auto";
  std::string tier = "dedicated";
  int retries = 0;
  std::string rdma_resource;
  std::string pull_secret;
  std::vector<std::string> job_env;  ///< "KEY=VALUE"
  std::string template_file;
  std::string memory;
  std::string shared_memory;
  int cpus = 0;
  std::string time;
  bool exclusive = false;
  std::vector<std::string> node_labels;  ///< "KEY=VALUE"
  std::vector<std::string> tolerations;  ///< "KEY[=VALUE][:EFFECT]"
};

void add_emit_options(CLI::App& command, EmitOptions& options);

/// The command line's settings of the job: everything except the case, its sizes and the subcommand. Sets the
/// launcher of `run` to one that needs nothing of this machine. Call before resolve().
job::Job job_of(const CLI::App& command, RunOptions& run, const EmitOptions& options);

/// Throws Error{kBadInput} for repetitions in a job whose ranks the scheduler starts once (all but Slurm's); `instead` is the
/// command that repeats runs there.
void refuse_repetitions(const RunOptions& run, const EmitOptions& options, const char* instead);

/// Throws Error{kBadInput} for a reference workload that no machine could run.
void check_emitted(const RunCase& run_case);

/// Writes the file of the job. Nothing is started, stored or submitted. Throws as reports::OutputFile when it cannot be written.
void write_job(const job::Job& job, const EmitOptions& options);

}  // namespace ddbench::cli
