#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "analyzer/import/flight_recorder/flight_recorder.h"
#include "core/error.h"
#include "harness/cli/data/import_traces.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/run_options.h"
#include "harness/cli/options/shared_options.h"
#include "reports/formats/json/json.h"

namespace ddbench::cli {
namespace {

struct FlightArguments {
  std::string folder;
  std::string db;
  bool json = false;
};

nlohmann::ordered_json json_of(const imports::Hang& hang) {
  nlohmann::ordered_json missing = nlohmann::ordered_json::array();
  for (const imports::MissingRank& rank : hang.missing) missing.push_back({{"rank", rank.rank}, {"why", rank.why}});
  return missing;
}

int import_flight_recorder(const FlightArguments& arguments) {
  const imports::FlightRecording recording = imports::read_flight_recorder(arguments.folder);
  const imports::Hang& hang = recording.hang;
  const auto runs = [&](const imports::TakeRun& take) {
    imports::ImportedRun run = recording.run;
    take(std::move(run));
  };
  const imports::ImportResult result =
      imports::import_runs(store_path(arguments.db), runs, recording.content, arguments.folder);
  if (arguments.json) {
    const nlohmann::ordered_json json = {{"schema_version", reports::kJsonSchemaVersion},
                                         {"sweep_id", result.sweep_id},
                                         {"added", result.added},
                                         {"already_there", result.already_there},
                                         {"verdict", recording.run.run.reason},
                                         {"missing", json_of(hang)},
                                         {"entered_by_all", hang.entered_by_all},
                                         {"waiting_ranks", hang.waiting},
                                         {"world_size", hang.world_size}};
    print_json(json);
    return 0;
  }
  print(recording.run.run.reason + "\n");
  for (const imports::MissingRank& rank : hang.missing) print(fmt::format("  rank {} {}\n", rank.rank, printable(rank.why)));
  for (const std::string& operation : hang.entered_by_all) print(fmt::format("  {}\n", printable(operation)));
  print(result.already_there ? fmt::format("imported before as sweep {}: nothing was changed\n", result.sweep_id)
                             : fmt::format("imported as run {}\n", result.added.front()));
  return 0;
}

}  // namespace

int import_flight_recorder(const ImportRequest& request) {
  if (request.paths.size() != 1)
    throw Error(ErrorCode::kBadInput, "dumps of the Flight Recorder: name the folder that has those of all ranks");
  return import_flight_recorder(FlightArguments{request.paths.front(), request.db, request.json});
}

void add_import_flight_recorder(CLI::App& import, Action& action) {
  const auto arguments = std::make_shared<FlightArguments>();
  CLI::App* command = import.add_subcommand(
      "flight-recorder", "Dumps of PyTorch's Flight Recorder: who is missing from which collective");
  command->add_option("folder", arguments->folder, "With the dumps of all ranks")->required();
  add_db_option(*command, arguments->db);
  add_json_option(*command, arguments->json);
  command->callback([&action, arguments] { action = [arguments] { return import_flight_recorder(*arguments); }; });
}

}  // namespace ddbench::cli
