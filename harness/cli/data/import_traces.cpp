#include "harness/cli/data/import_traces.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analyzer/import/horovod/horovod.h"
#include "analyzer/import/kineto/kineto.h"
#include "analyzer/import/nsys/nsys.h"
#include "core/error.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/run_options.h"
#include "harness/cli/options/shared_options.h"
#include "reports/formats/json/json.h"

namespace ddbench::cli {
namespace {

struct TraceArguments {
  std::vector<std::string> files;
  std::string db;
  imports::NsysOptions options;  ///< of all formats; what only nsys has is empty elsewhere
  int ranks = 0;  ///< of a Horovod timeline
  bool json = false;
};

void print_trace_import(const TraceArguments& arguments, const imports::TraceImport& import) {
  if (arguments.json) {
    const std::vector<store::RunId> added(import.already_there ? 0 : 1, import.run);
    const nlohmann::ordered_json json = {{"schema_version", reports::kJsonSchemaVersion},
                                         {"sweep_id", import.sweep_id},
                                         {"added", added},
                                         {"already_there", import.already_there},
                                         {"run", import.run},
                                         {"ranks", import.ranks},
                                         {"world_size", import.world_size},
                                         {"placement_known", import.placement_known}};
    print_json(json);
  } else if (import.already_there) {
    print(fmt::format("already imported as run {}; to import with other options, delete it first with "
                      "`ddbench db prune`\n",
                      import.run));
  } else {
    print(fmt::format("imported the traces of {} of {} rank{}: `ddbench show {}` shows the run\n", import.ranks,
                      import.world_size, import.world_size == 1 ? "" : "s", import.run));
    if (!import.placement_known)
      print("The traces do not say which ranks share a node: --gpus-per-node states it\n");
  }
}

/// `import` is given a progress of files, which shows on a terminal.
template <typename Import>
int import_shown(const TraceArguments& arguments, const Import& import) {
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  const auto progress = [&](std::size_t done, std::size_t all) {
    if (terminal) print_error(fmt::format("\r\033[K{} of {} files read", done, all));
  };
  const auto clear = [&] {
    if (terminal) print_error("\r\033[K");
  };
  imports::TraceImport result;
  try {
    result = import(progress);
  } catch (...) {
    clear();
    throw;
  }
  clear();
  print_trace_import(arguments, result);
  return 0;
}

std::vector<std::filesystem::path> paths_of(const TraceArguments& arguments) {
  return {arguments.files.begin(), arguments.files.end()};
}

int import_kineto(const TraceArguments& arguments) {
  return import_shown(arguments, [&](const imports::FileProgress& progress) {
    return imports::import_kineto(store_path(arguments.db), imports::trace_files(paths_of(arguments)),
                                  arguments.options.trace, progress);
  });
}

int import_nsys(const TraceArguments& arguments) {
  return import_shown(arguments, [&](const imports::FileProgress& progress) {
    return imports::import_nsys(store_path(arguments.db), imports::nsys_files(paths_of(arguments)), arguments.options,
                                progress);
  });
}

int import_horovod(const TraceArguments& arguments) {
  if (arguments.files.size() != 1)
    throw Error(ErrorCode::kBadInput, "Horovod's rank 0 writes one timeline for all ranks: name one file");
  return import_shown(arguments, [&](const imports::FileProgress&) {
    return imports::import_horovod(store_path(arguments.db), arguments.files.front(),
                                   {arguments.options.trace, arguments.ranks});
  });
}

TraceArguments trace_arguments(const ImportRequest& request) {
  TraceArguments arguments;
  arguments.files = request.paths;
  arguments.db = request.db;
  arguments.json = request.json;
  return arguments;
}

void add_trace_options(CLI::App& command, TraceArguments& arguments, const char* files = "The files, or folders that have them") {
  imports::TraceOptions& options = arguments.options.trace;
  command.add_option("files", arguments.files, files)->required();
  command.add_option("--name", options.name, "Of the program (default: from the first file's name)");
  command
      .add_option("--batch-per-gpu", options.batch_per_gpu,
                  "Samples per rank and step, used to compute throughput (default: 1)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  command.add_option("--warmup", options.warmup, "Steps that do not count (default: 0)")->check(CLI::Range(0, 1'000'000));
  command.add_option("--gpus-per-node", options.gpus_per_node, "Ranks of each node (default: what the traces say)")
      ->check(CLI::Range(1, 65536));
  add_db_option(command, arguments.db);
  add_json_option(command, arguments.json);
}

}  // namespace

int import_kineto(const ImportRequest& request) {
  return import_kineto(trace_arguments(request));
}

int import_nsys(const ImportRequest& request) {
  return import_nsys(trace_arguments(request));
}

int import_horovod(const ImportRequest& request) {
  return import_horovod(trace_arguments(request));
}

void add_import_kineto(CLI::App& import, Action& action) {
  const auto arguments = std::make_shared<TraceArguments>();
  CLI::App* command = import.add_subcommand(
      "kineto", "Traces of PyTorch's profiler (.json, .json.gz), one a rank: those of a job become one run");
  add_trace_options(*command, *arguments);
  command->callback([&action, arguments] { action = [arguments] { return import_kineto(*arguments); }; });
}

void add_import_nsys(CLI::App& import, Action& action) {
  const auto arguments = std::make_shared<TraceArguments>();
  CLI::App* command = import.add_subcommand(
      "nsys", "SQLite exports of Nsight Systems (nsys export --type sqlite): those of a job become one run");
  add_trace_options(*command, *arguments);
  command->add_option("--step-range", arguments->options.step_range,
                      "NVTX range that marks a step, with or without a number behind it (default: ProfilerStep#)");
  command->callback([&action, arguments] { action = [arguments] { return import_nsys(*arguments); }; });
}

void add_import_horovod(CLI::App& import, Action& action) {
  const auto arguments = std::make_shared<TraceArguments>();
  CLI::App* command = import.add_subcommand(
      "horovod", "The timeline that Horovod wrote (HOROVOD_TIMELINE): negotiation apart from transfer");
  add_trace_options(*command, *arguments, "The file");
  command->add_option("--ranks", arguments->ranks, "Ranks of the job (default: those that the timeline names)")
      ->check(CLI::Range(1, 65536));
  command->callback([&action, arguments] { action = [arguments] { return import_horovod(*arguments); }; });
}

}  // namespace ddbench::cli
