#include "harness/cli/run/emit.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <fstream>
#include <set>

#include "core/error.h"
#include "core/run_case/program_case.h"
#include "harness/cli/options/output.h"
#include "harness/experiment/run/execute_run.h"
#include "harness/launch/jobfile/job_file.h"
#include "harness/training/train.h"

namespace ddbench::cli {
namespace {

constexpr const char* kGroup = "Job file";

/// What the job file says in its own way, or what only concerns the run of this machine.
bool is_for_the_job(const CLI::Option& option) {
  static const std::set<std::string> kSaidByTheFile{"--name",      "--db",       "--json",  "--quiet",
                                                    "--continue",  "--force",  "--launcher", "--hosts", "--hostfile",
                                                    "--partition", "--account"};
  return option.count() > 0 && !option.get_positional() && option.get_group() != kGroup &&
         kSaidByTheFile.count(option.get_name()) == 0;
}

/// The options of the command line that define the case, as they were given.
std::vector<std::string> given_options(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::Option* option : command.get_options()) {
    if (!is_for_the_job(*option)) continue;
    const bool is_flag = option->get_expected_max() == 0;
    for (const std::string& value : option->results()) {
      words.push_back(option->get_name());
      // The parser has replaced the time by its nanoseconds.
      if (!is_flag) words.push_back(option->get_name() == "--data-delay" ? value + "ns" : value);
    }
  }
  return words;
}

void write(const std::string& file, const std::string& text) {
  if (file.empty()) return print(text);
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream << text;
  stream.close();
  if (!stream) throw_errno(errno, fmt::format("cannot write the job file {}", file), ErrorCode::kEnvironment);
}

}  // namespace

void add_emit_options(CLI::App& command, EmitOptions& options) {
  const auto add = [&](const char* name, std::string& value, const char* meaning) {
    return command.add_option(name, value, meaning)->group(kGroup);
  };
  CLI::Option* emit =
      add("--emit", options.format,
          "Write the file that starts the case elsewhere, and run nothing: azureml, sbatch, kubeflow or "
          "compose. What talks MPI: --backend mpi");
  add("-o,--output", options.output, "Where to (default: standard output)")->needs(emit);
  add("--image", options.image, "Container image that has ddbench in its PATH")->needs(emit);
  add("--compute", options.compute, "Azure ML: the compute target")->needs(emit);
}

void emit(const CLI::App& command, SingleRunOptions& options, const EmitOptions& emit_options) {
  const job::Format format = job::format_from(emit_options.format);
  job::Job job;
  job.program = options.program.program;
  job.options = given_options(command);
  job.store = options.db;
  job.gpus = options.device != "cpu";
  job.mpi = options.backend == "mpi";
  job.image = emit_options.image;
  job.compute = emit_options.compute;
  job.partition = options.launcher.launcher.partition;
  job.account = options.launcher.launcher.account;
  // The file says who starts the ranks; what of that can be had on this machine does not matter.
  options.launcher = {};
  options.launcher.name = "local";
  resolve_case(options);
  if (!is_program(options.run_case)) {
    ddp::check_supported(options.run_case);
    experiment::check_parts_fit(options.run_case);
  }
  job.run_case = options.run_case;
  write(emit_options.output, job::job_file(format, job));
}

}  // namespace ddbench::cli
