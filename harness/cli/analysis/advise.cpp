#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/predict/advice.h"
#include "analyzer/predict/path/critical_path.h"
#include "analyzer/predict/predict_run.h"
#include "core/error.h"
#include "harness/cli/analysis/network_costs.h"
#include "harness/cli/options/command.h"
#include "harness/cli/options/open_store.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/shared_options.h"
#include "reports/formats/predict/prediction.h"

namespace ddbench::cli {
namespace {

struct AdviseCommand {
  std::string db;
  std::string run = "last";
  std::vector<std::string> networks;
  std::string skus;
  bool json = false;
};

int advise(const AdviseCommand& command) {
  const auto store = open_store(command.db);
  const store::RunRecord run = store.find(command.run);
  const analyzer::StepRecording steps = replayable(store, run);
  analyzer::CollectiveCosts costs = network_costs(store, command.networks, command.skus);
  analyzer::add_costs(steps, costs);
  const Measured<analyzer::AdviceReport> found = analyzer::advise(steps, costs, run);
  if (!found) throw Error(ErrorCode::kBadInput, fmt::format("run {}: {}", run.id, found.reason()));
  analyzer::AdviceReport report = *found;
  if (!command.networks.empty()) {
    report.notes.insert(report.notes.begin(), "changes of the network or of what crosses it are gains over a replay with the costs of "
                                                "--network; the step and its waits are those of the recorded network");
  }
  const auto path = analyzer::critical_path_of(store, run);
  print(command.json ? reports::advice_json(report, path) + "\n" : reports::advice_text(report, path, stdout_style()));
  return 0;
}

}  // namespace

void add_advise_command(CLI::App& app, Action& action) {
  CLI::App* advised = app.add_subcommand("advise", "What to change first: single changes by what a replay says they gain");
  const auto command = std::make_shared<AdviseCommand>();
  advised->add_option("run", command->run, kReplayedRunHelp);
  add_db_option(*advised, command->db);
  add_network_option(*advised, command->networks);
  add_json_option(*advised, command->json, "advice.schema.json");
  add_examples(*advised, {{"advise last", "the newest run"},
                          {"advise RUN --network MICRO", "with what other sizes of collectives cost"}});
  advised->callback([&action, command] { action = [command] { return advise(*command); }; });
}

}  // namespace ddbench::cli
