#include "harness/cli/data/import_traces.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analyzer/import/kineto/kineto.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/run_options.h"
#include "harness/cli/options/shared_options.h"
#include "reports/formats/json/json.h"

namespace ddbench::cli {
namespace {

struct KinetoArguments {
  std::vector<std::string> files;
  std::string db;
  imports::TraceOptions options;
  bool json = false;
};

void add_gpus_per_node(CLI::App& command, int& gpus_per_node) {
  command.add_option("--gpus-per-node", gpus_per_node, "Ranks of each node (default: what the traces say)")
      ->check(CLI::Range(1, 65536));
}

void tell(const KinetoArguments& arguments, const imports::TraceImport& import) {
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
    print(json.dump() + "\n");
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

int import_kineto(const KinetoArguments& arguments) {
  const std::vector<std::filesystem::path> paths(arguments.files.begin(), arguments.files.end());
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  const auto progress = [&](std::size_t done, std::size_t all) {
    if (terminal) print_error(fmt::format("\r\033[K{} of {} files read", done, all));
  };
  const auto clear = [&] {
    if (terminal) print_error("\r\033[K");
  };
  imports::TraceImport import;
  try {
    import = imports::import_kineto(store_path(arguments.db), imports::trace_files(paths), arguments.options, progress);
  } catch (...) {
    clear();
    throw;
  }
  clear();
  tell(arguments, import);
  return 0;
}

}  // namespace

int import_kineto(const ImportRequest& request) {
  KinetoArguments arguments;
  arguments.files = request.paths;
  arguments.db = request.db;
  arguments.json = request.json;
  return import_kineto(arguments);
}

void add_import_kineto(CLI::App& import, Action& action) {
  const auto arguments = std::make_shared<KinetoArguments>();
  CLI::App* command = import.add_subcommand(
      "kineto", "Traces of PyTorch's profiler (.json, .json.gz), one a rank: those of a job become one run");
  command->add_option("files", arguments->files, "The files, or folders that have them")->required();
  command->add_option("--name", arguments->options.name, "Of the program (default: from the first file's name)");
  command
      ->add_option("--batch-per-gpu", arguments->options.batch_per_gpu,
                   "Samples per rank and step, used to compute throughput (default: 1)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  command->add_option("--warmup", arguments->options.warmup, "Steps that do not count (default: 0)")
      ->check(CLI::Range(0, 1'000'000));
  add_gpus_per_node(*command, arguments->options.gpus_per_node);
  add_db_option(*command, arguments->db);
  add_json_option(*command, arguments->json);
  command->callback([&action, arguments] { action = [arguments] { return import_kineto(*arguments); }; });
}

}  // namespace ddbench::cli
