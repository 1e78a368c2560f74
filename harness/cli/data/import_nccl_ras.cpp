#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "analyzer/import/nccl_ras/nccl_ras.h"
#include "core/error.h"
#include "harness/cli/data/import_logs.h"
#include "harness/cli/data/import_shown.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/run_options.h"
#include "harness/cli/options/shared_options.h"
#include "reports/formats/json/json.h"

namespace ddbench::cli {
namespace {

struct RasArguments : ShownImport {
  std::string name;
};

int import_snapshot(const RasArguments& arguments) {
  const std::string content = content_of(arguments);
  const imports::RasSnapshot snapshot = imports::read_nccl_ras(content, arguments.file, arguments.name);
  const imports::ImportResult result = imports::import_runs(
      store_path(arguments.db), [&](const imports::TakeRun& take) { take(imports::ImportedRun(snapshot.run)); },
      content + "\n" + arguments.name, arguments.file);
  if (arguments.json) {
    const nlohmann::ordered_json json = {{"schema_version", reports::kJsonSchemaVersion},
                                         {"sweep_id", result.sweep_id},
                                         {"added", result.added},
                                         {"already_there", result.already_there},
                                         {"findings", snapshot.findings},
                                         {"unequal", snapshot.unequal},
                                         {"world_size", snapshot.run.run.run_case.world_size()}};
    print_json(json);
    return 0;
  }
  print(snapshot.findings.empty() ? "no rank is missing or in error\n" : "");
  for (const std::string& finding : snapshot.findings) print(printable(finding) + "\n");
  for (const std::string& unequal : snapshot.unequal) print(printable(unequal) + "\n");
  return print_import(arguments, result);
}

}  // namespace

int import_nccl_ras(const ImportRequest& request) {
  if (request.paths.size() != 1)
    throw Error(ErrorCode::kBadInput, "snapshots of NCCL's RAS are imported one at a time: each is of another moment");
  RasArguments arguments;
  arguments.file = request.paths.front();
  arguments.db = request.db;
  arguments.json = request.json;
  return import_snapshot(arguments);
}

void add_import_nccl_ras(CLI::App& import, Action& action) {
  const auto arguments = std::make_shared<RasArguments>();
  CLI::App* command = import.add_subcommand(
      "nccl-ras", "What `ncclras -f json` printed: a snapshot of which ranks are missing or in error, and what was launched");
  command->add_option("file", arguments->file, "The file; - for standard input")->required();
  command->add_option("--name", arguments->name, "Of the program (default: nccl-ras)");
  add_db_option(*command, arguments->db);
  add_json_option(*command, arguments->json);
  command->callback([&action, arguments] { action = [arguments] { return import_snapshot(*arguments); }; });
}

}  // namespace ddbench::cli
