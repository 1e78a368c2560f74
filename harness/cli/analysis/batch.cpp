#include <CLI/CLI.hpp>
#include <memory>

#include "analyzer/batch/batch_analysis.h"
#include "harness/cli/options/open_store.h"
#include "harness/cli/options/command.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/run_selection.h"
#include "harness/cli/options/shared_options.h"
#include "reports/formats/terminal/batch.h"

namespace ddbench::cli {
namespace {

struct BatchOptions {
  RunSelection selection;
  std::vector<std::string> prices;
  std::string skus;
  bool json = false;
};

int batch(const BatchOptions& options) {
  const auto store = open_store(options.selection.db);
  analyzer::SkuCatalogue catalogue = analyzer::SkuCatalogue::load(options.skus);
  for (const std::string& price : options.prices) catalogue.set_price(price);
  const analyzer::BatchAnalysis analysis =
      analyzer::batch_analysis(store, select_runs_or_newest_sweep(store, options.selection), catalogue);
  print(options.json ? reports::batch_json(analysis) + "\n" : reports::batch_text(analysis, stdout_style()));
  return 0;
}

}  // namespace

void add_batch_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "batch",
      "Steps, time and cost to a target loss by batch, the critical batch, and the gradient's noise");
  const auto options = std::make_shared<BatchOptions>();
  add_selection_options(*command, options->selection);
  command->add_option("--price", options->prices, "NAME=USD_PER_HOUR of a node of this SKU")
      ->take_all()
      ->allow_extra_args(false);
  add_skus_option(*command, options->skus);
  add_json_option(*command, options->json, "batch.schema.json");
  add_examples(*command, {{"batch", "the newest sweep over batches"},
                          {"batch --where name=lr --price a100=27.2", "with the cost of a node per hour"}});
  command->callback([&action, options] { action = [options] { return batch(*options); }; });
}

}  // namespace ddbench::cli
