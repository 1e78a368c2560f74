#include "harness/cli/data/import_logs.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/import/nccl_inspector/nccl_inspector.h"
#include "analyzer/import/recognise/recognise.h"
#include "analyzer/import/trace/folder_files.h"
#include "analyzer/import/training_log/training_log.h"
#include "core/error.h"
#include "harness/cli/data/import_shown.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/run_options.h"
#include "harness/cli/options/shared_options.h"

namespace ddbench::cli {
namespace {

struct LogArguments : ShownImport {
  std::vector<std::string> files;
  std::string format;
  imports::TrainingLogOptions options;
};

imports::ImportResult import_file(LogArguments arguments, imports::LogFormat format, const std::string& file,
                                  const imports::ImportProgress& progress) {
  arguments.file = file;
  std::string content = content_of(arguments);
  const imports::TrainingLogOptions& how = arguments.options;
  const imports::ImportedRun run = imports::read_training_log(content, file, format, how);
  // Read in another way, it is another run.
  content += fmt::format("\n{} {} {} {} {} {} {} {} {} {} {}", to_string(format), how.name, how.gpus, how.gpus_per_node,
                         how.global_batch, how.tensor_parallel, how.pipeline_parallel, how.context_parallel, how.warmup,
                         how.regex, how.groups);
  return imports::import_runs(store_path(arguments.db), [&](const imports::TakeRun& take) { take(imports::ImportedRun(run)); },
                              content, file, progress);
}

int import_files(const LogArguments& arguments, imports::LogFormat format) {
  return import_each(arguments, arguments.files, [&](const std::string& file, const imports::ImportProgress& progress) {
    return import_file(arguments, format, file, progress);
  });
}

int import_log(const LogArguments& arguments) {
  return import_files(arguments, *imports::log_format_from(arguments.format));
}

LogArguments log_arguments(const ImportRequest& request) {
  LogArguments arguments;
  arguments.files = request.paths;
  arguments.db = request.db;
  arguments.json = request.json;
  return arguments;
}

void add_size(CLI::App& command, const char* name, int& value, const char* meaning) {
  command.add_option(name, value, meaning)->check(CLI::Range(1, 65536));
}

void add_options(CLI::App& command, LogArguments& arguments) {
  imports::TrainingLogOptions& options = arguments.options;
  command.add_option("files", arguments.files, "The files, one a run; - for standard input")->required();
  command.add_option("--name", options.name, "Of the program (default: the format's)");
  add_size(command, "--gpus", options.gpus, "GPUs of the job, where the log does not say");
  add_size(command, "--gpus-per-node", options.gpus_per_node, "GPUs of each node (default: not known)");
  command.add_option("--global-batch", options.global_batch, "Samples a step, where the log does not say")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  add_size(command, "--tensor-parallel", options.tensor_parallel, "GPUs that share each layer (default: what the log says)");
  add_size(command, "--pipeline-parallel", options.pipeline_parallel, "Pipeline stages (default: what the log says)");
  add_size(command, "--context-parallel", options.context_parallel, "GPUs that share a sequence (default: what the log says)");
  command.add_option("--warmup", options.warmup, "Rows that do not count (default: 1)")->check(CLI::Range(0, 1'000'000));
  add_db_option(command, arguments.db);
  add_json_option(command, arguments.json);
}

/// All files are one job, and one run.
int import_nccl_inspector(LogArguments arguments) {
  const std::vector<std::filesystem::path> paths(arguments.files.begin(), arguments.files.end());
  const imports::InspectorContent content = imports::read_nccl_inspector(
      imports::files_of_folders(paths, {".log", ".jsonl", ".json", ".log.gz", ".jsonl.gz", ".json.gz"}), arguments.options.name);
  arguments.file = arguments.files.front();
  return store_runs(arguments, [&](const imports::TakeRun& take) { take(imports::ImportedRun(content.run)); },
                    fmt::format("nccl-inspector {:016x} {}", content.hash, arguments.options.name));
}

}  // namespace

int import_nccl_inspector(const ImportRequest& request) {
  return import_nccl_inspector(log_arguments(request));
}

void add_import_nccl_inspector(CLI::App& import, Action& action) {
  const auto arguments = std::make_shared<LogArguments>();
  CLI::App* command = import.add_subcommand(
      "nccl-inspector", "What NCCL Inspector wrote, a file a process: a snapshot of a job's collectives as one run");
  command->add_option("files", arguments->files, "The files, or folders that have them")->required();
  command->add_option("--name", arguments->options.name, "Of the program (default: nccl-inspector)");
  add_db_option(*command, arguments->db);
  add_json_option(*command, arguments->json);
  command->callback([&action, arguments] { action = [arguments] { return import_nccl_inspector(*arguments); }; });
}

int import_log(const ImportRequest& request) {
  LogArguments arguments = log_arguments(request);
  arguments.format = imports::log_format_of(request.paths.front());
  return import_log(arguments);
}

int import_mlperf(const ImportRequest& request) {
  return import_files(log_arguments(request), imports::LogFormat::kMlperf);
}

void add_import_log(CLI::App& import, Action& action) {
  const auto arguments = std::make_shared<LogArguments>();
  CLI::App* command = import.add_subcommand("log", "Logs of training programs: step times and losses");
  command->add_option("--format", arguments->format, "Whose lines they are: megatron, deepspeed, torchtitan, composer or regex")
      ->required()
      ->check(CLI::IsMember({"megatron", "deepspeed", "torchtitan", "composer", "regex"}));
  add_options(*command, *arguments);
  command->add_option("--regex", arguments->options.regex, "With --format regex: the line of a step, with a group for each value");
  command->add_option("--groups", arguments->options.groups,
                      "What the groups are, in order: step, step_time_ms, step_time_s, samples_per_s, loss");
  command->callback([&action, arguments] { action = [arguments] { return import_log(*arguments); }; });
}

void add_import_mlperf(CLI::App& import, Action& action) {
  const auto arguments = std::make_shared<LogArguments>();
  CLI::App* command = import.add_subcommand("mlperf", "Logs of MLPerf training (:::MLLOG): step times and throughput");
  add_options(*command, *arguments);
  command->callback([&action, arguments] {
    action = [arguments] { return import_files(*arguments, imports::LogFormat::kMlperf); };
  });
}

}  // namespace ddbench::cli
