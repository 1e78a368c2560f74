#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/import/nccl_tests/nccl_tests.h"
#include "analyzer/import/recognise/recognise.h"
#include "analyzer/import/table/table.h"
#include "core/error.h"
#include "harness/cli/data/import_logs.h"
#include "harness/cli/data/import_shown.h"
#include "harness/cli/data/import_traces.h"
#include "harness/cli/options/command.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/run_options.h"
#include "harness/cli/options/shared_options.h"
#include "harness/experiment/recover/import_spools.h"

namespace ddbench::cli {
namespace {

struct ImportOptions : ShownImport {
  std::vector<std::string> files;  ///< of nccl-tests: files and folders
  std::vector<std::string> units;
  std::vector<std::string> renames;
  imports::NcclTestsOptions nccl_tests;
  experiment::SpoolImportOptions spools;
};

int import_spools(const ImportOptions& options) {
  const experiment::SpoolImport import =
      experiment::import_spools(store_path(options.db), options.file, options.spools);
  const std::vector<store::RunId> added(import.already_there ? 0 : 1, import.run);
  print_import(options, {import.sweep_id, added, import.already_there});
  if (options.json) return 0;
  if (import.already_there) {
    print(
        fmt::format("already imported as run {}; to re-import with other options, delete it first with "
                    "`ddbench db prune`\n",
                    import.run));
  } else {
    print(fmt::format("{} rank{} on {} machine{}: `ddbench show {}` shows it\n", import.ranks,
                      import.ranks == 1 ? "" : "s", import.machines, import.machines == 1 ? "" : "s",
                      import.run));
  }
  return 0;
}

int import_table(const ImportOptions& options) {
  imports::TableOptions table;
  std::string content = content_of(options);
  for (const std::string& text : options.units) table.units.insert(key_and_value(text, "--unit"));
  for (const std::string& text : options.renames) table.rename.insert(key_and_value(text, "--rename"));
  const std::size_t size = content.size();
  // Read in another way, it is another file.
  for (const auto* map : {&table.units, &table.rename}) {
    for (const auto& [key, value] : *map) content += fmt::format("\n{}={}", key, value);
  }
  const std::string_view text = std::string_view(content).substr(0, size);
  const auto runs = [&](const imports::TakeRun& take) {
    imports::read_table(text, options.file, table, take);
  };
  return store_runs(options, runs, content);
}

imports::ImportResult import_nccl_log(const ImportOptions& options, const imports::ImportProgress& progress) {
  std::string content = content_of(options);
  const imports::NcclTestsOptions& how = options.nccl_tests;
  const std::vector<imports::ImportedRun> read = imports::read_nccl_tests(content, options.file, how);
  content += fmt::format("\n{}\n{}\n{}\n{}", how.function, how.ranks, how.network, how.sku);
  const auto runs = [&](const imports::TakeRun& take) {
    for (imports::ImportedRun run : read) take(std::move(run));
  };
  return imports::import_runs(store_path(options.db), runs, content, options.file, progress);
}

bool may_be_log(const std::filesystem::path& file) {
  const std::string ending = file.extension().string();
  return ending.empty() || ending == ".log" || ending == ".txt" || ending == ".out" || ending == ".json";
}

/// The logs below folders by their endings (.log, .txt, .out, .json or none), in order; a file as it is.
std::vector<std::string> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    const auto before = static_cast<std::ptrdiff_t>(files.size());
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             path, std::filesystem::directory_options::skip_permission_denied, error)) {
      if (entry.is_regular_file(error) && may_be_log(entry.path())) files.push_back(entry.path().string());
    }
    std::sort(files.begin() + before, files.end());
  }
  return files;
}

int import_nccl_tests(ImportOptions options) {
  const std::vector<std::string> files = files_of(options.files);
  if (files.empty()) throw Error(ErrorCode::kBadInput, fmt::format("{}: there is no .log, .txt, .out or .json below it", options.files.front()));
  return import_each(options, files, [&](const std::string& file, const imports::ImportProgress& progress) {
    options.file = file;
    return import_nccl_log(options, progress);
  });
}

CLI::App* add_format(CLI::App& app, const char* name, const char* description, ImportOptions& options,
                     const char* argument = "file", const char* meaning = "The file; - for standard input") {
  CLI::App* command = app.add_subcommand(name, description);
  command->add_option(argument, options.file, meaning)->required();
  add_db_option(*command, options.db);
  add_json_option(*command, options.json);
  return command;
}

/// With its defaults.
int import_format(imports::Format format, const ImportRequest& request) {
  if (format == imports::Format::kKineto) return import_kineto(request);
  if (format == imports::Format::kNsys) return import_nsys(request);
  if (format == imports::Format::kHorovod) return import_horovod(request);
  if (format == imports::Format::kNcclRas) return import_nccl_ras(request);
  if (format == imports::Format::kFlightRecorder) return import_flight_recorder(request);
  ImportOptions options;
  options.db = request.db;
  options.json = request.json;
  options.files = request.paths;
  if (format == imports::Format::kNcclTests) return import_nccl_tests(std::move(options));
  if (format == imports::Format::kNcclInspector) return import_nccl_inspector(request);
  if (format == imports::Format::kMlperf) return import_mlperf(request);
  if (request.paths.size() > 1)
    throw Error(ErrorCode::kBadInput, fmt::format("{} are imported one at a time", imports::to_string(format)));
  options.file = request.paths.front();
  if (format == imports::Format::kLog) return import_log(request);
  return format == imports::Format::kSpools ? import_spools(options) : import_table(options);
}

/// Whether the message names an option that the format's own command has and `auto` has not.
bool names_option(const CLI::App& command, const std::string& message) {
  static const std::set<std::string> kOfAuto{"help", "db", "json"};
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      const std::size_t at = message.find("--" + name);
      if (kOfAuto.count(name) > 0 || at == std::string::npos) continue;
      const std::string rest = message.substr(at + 2 + name.size());
      if (rest.empty() || std::string_view(" `;:,)").find(rest.front()) != std::string_view::npos) return true;
    }
  }
  return false;
}

int import_auto(const CLI::App& import, const ImportRequest& request) {
  const std::vector<std::filesystem::path> paths(request.paths.begin(), request.paths.end());
  const imports::Format format = imports::recognise(paths);
  try {
    return import_format(format, request);
  } catch (const Error& error) {
    const std::string name(imports::to_string(format));
    if (!names_option(*import.get_subcommand(name), error.message())) throw;
    throw Error(error.code(), fmt::format("{} (an option of `ddbench import {}`)", error.message(), name), error.native_code(), error.where());
  }
}

void add_auto(CLI::App& import, Action& action) {
  const auto request = std::make_shared<ImportRequest>();
  CLI::App* command = import.add_subcommand("auto", "Any of the formats below, recognised by its content");
  command->add_option("files", request->paths, "Files or folders of one format")->required();
  add_db_option(*command, request->db);
  add_json_option(*command, request->json);
  command->callback([&action, &import, request] { action = [&import, request] { return import_auto(import, *request); }; });
}

}  // namespace

void add_import_command(CLI::App& app, Action& action) {
  CLI::App* import = app.add_subcommand("import", "Store figures that were measured without `ddbench run`");
  import->require_subcommand(1);
  add_examples(*import, {{"import auto FILE...", "of whatever format"},
                         {"import table results.csv --unit step_time=ms", "figures of any source"},
                         {"import nccl-tests all_reduce.txt --network ib", "what nccl-tests printed"},
                         {"import kineto traces/", "traces of PyTorch's profiler, a file a rank"},
                         {"import nsys rank*.sqlite --step-range step", "what Nsight Systems recorded, exported as SQLite"},
                         {"import flight-recorder dumps/", "who is missing from which collective"},
                         {"import log --format megatron train.log --gpus-per-node 8", "step times of a training log"},
                         {"import spools trace", "what NCCL's profiler plug-in recorded"}});
  add_auto(*import, action);
  const auto options = std::make_shared<ImportOptions>();

  CLI::App* table = add_format(
      *import, "table", "A CSV file, a row a run: gpus,nodes,workload,...,throughput|step_time_ms", *options);
  table->add_option("--unit", options->units, "Unit of a column, e.g. step_time=ms")
      ->take_all()
      ->allow_extra_args(false);
  table->add_option("--rename", options->renames, "COLUMN=NAME: take a column of the file as NAME")
      ->take_all()
      ->allow_extra_args(false);
  table->callback([&action, options] { action = [options] { return import_table(*options); }; });

  CLI::App* nccl_tests = import->add_subcommand("nccl-tests", "What nccl-tests print, or write with -J");
  nccl_tests->add_option("files", options->files, "Files, or folders that have them; - for standard input")->required();
  add_db_option(*nccl_tests, options->db);
  add_json_option(*nccl_tests, options->json);
  nccl_tests->add_option("--function", options->nccl_tests.function,
                         "The collective, where the file does not say: all_reduce, ...");
  nccl_tests->add_option("--ranks", options->nccl_tests.ranks, "Ranks, where the file does not say")
      ->check(CLI::Range(1, 65536));
  nccl_tests->add_option("--network", options->nccl_tests.network, "The network, kept with the runs");
  nccl_tests->add_option("--sku", options->nccl_tests.sku, "Catalogue name of the machines");
  CLI::App* spools = add_format(
      *import, "spools", "Import spool files recorded by the NCCL profiler plug-in without `ddbench run`",
      *options, "folder", "With the rank<N>.<pid>.spool of all ranks");
  spools->add_option("--name", options->spools.name, "Of the program (default: the folder's name)");
  spools
      ->add_option("--batch-per-gpu", options->spools.batch_per_gpu,
                   "Samples per rank and step, used to compute throughput (default: 1)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  spools->add_option("--warmup", options->spools.warmup, "Steps that do not count (default: 5)")
      ->check(CLI::Range(0, 1'000'000));
  spools->callback([&action, options] { action = [options] { return import_spools(*options); }; });
  nccl_tests->callback([&action, options] { action = [options] { return import_nccl_tests(*options); }; });
  add_import_kineto(*import, action);
  add_import_nsys(*import, action);
  add_import_horovod(*import, action);
  add_import_flight_recorder(*import, action);
  add_import_log(*import, action);
  add_import_mlperf(*import, action);
  add_import_nccl_inspector(*import, action);
  add_import_nccl_ras(*import, action);
}

}  // namespace ddbench::cli
