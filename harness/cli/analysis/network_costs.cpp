#include "harness/cli/analysis/network_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <variant>

#include "analyzer/catalogue/sku_catalogue.h"
#include "analyzer/import/imported_run.h"
#include "analyzer/import/nccl_tests/nccl_tests.h"
#include "analyzer/predict/predict_run.h"
#include "analyzer/predict/recording.h"
#include "core/error.h"
#include "core/run_case/program_case.h"

namespace ddbench::cli {
namespace {

/// The in-place run of a test first: of runs with equal ranks the first one counts, and MicroRow::usual() is in place, too.
std::vector<imports::ImportedRun> nccl_tests_in(const std::string& file) {
  std::vector<imports::ImportedRun> runs;
  try {
    runs = imports::read_nccl_tests(imports::read_file(file), file, {});
  } catch (const Error& error) {
    std::string message = error.message();
    const std::size_t remedy = message.rfind(": give ");  // options of the import
    if (remedy == std::string::npos) throw;
    message.replace(remedy, 7, fmt::format(": import it (`ddbench import nccl-tests {}`) with ", file));
    throw Error(error.code(), message + ", and give the run as --network");
  }
  std::stable_partition(runs.begin(), runs.end(), [](const imports::ImportedRun& run) {
    return std::get<NcclTests>(run.run.run_case.work).place == "in_place";
  });
  return runs;
}

void add_network(const store::RunStore& store, const analyzer::SkuCatalogue& catalogue, const std::string& name,
                 analyzer::CollectiveCosts& costs) {
  if (const analyzer::Sku* sku = catalogue.find_sku(name); sku != nullptr) {
    const auto node = analyzer::nccl_node(*sku);
    if (!node) throw Error(ErrorCode::kBadInput, fmt::format("--network {}: {}", name, node.reason()));
    costs.set_nominal(*node);
  } else if (std::filesystem::is_regular_file(name)) {
    for (const imports::ImportedRun& run : nccl_tests_in(name)) analyzer::add_costs(run.run.run_case, run.collectives, costs);
  } else {
    analyzer::add_costs(store, store.find(name), costs);
  }
}

}  // namespace

void add_network_option(CLI::App& app, std::vector<std::string>& networks) {
  app.add_option("--network", networks,
                 "Where the costs of collectives come from: a run of `ddbench micro` or of training, a file or an imported run of "
                 "nccl-tests, or a SKU of the catalogue (nominal: NCCL's tuning model)")
      ->delimiter(',')
      ->take_all()
      ->allow_extra_args(false);  // what follows it is the run
}

analyzer::CollectiveCosts network_costs(const store::RunStore& store, const std::vector<std::string>& networks,
                                        const std::string& catalogue_file) {
  analyzer::CollectiveCosts costs;
  const analyzer::SkuCatalogue catalogue = analyzer::SkuCatalogue::load(catalogue_file);
  for (const std::string& network : networks) {
    add_network(store, catalogue, network, costs);
    if (costs.is_nominal() && networks.size() > 1)
      throw Error(ErrorCode::kBadInput, "--network: a SKU gives the costs of all collectives: leave out the other networks");
  }
  costs.set_requested();
  return costs;
}

analyzer::StepRecording replayable(const store::RunStore& store, const store::RunRecord& run) {
  const Measured<analyzer::StepRecording> found = analyzer::recording_of(store, run);
  if (!found) throw Error(ErrorCode::kBadInput, fmt::format("run {} cannot be replayed: {}", run.id, found.reason()));
  return *found;
}

}  // namespace ddbench::cli
