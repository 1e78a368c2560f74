#include <CLI/CLI.hpp>
#include <memory>

#include "command.h"
#include "ddbench/analyzer/batch_analysis.h"
#include "ddbench/reports/batch.h"
#include "output.h"
#include "run_selection.h"

namespace ddbench::cli {
namespace {

struct BatchOptions {
  RunSelection selection;
  std::vector<std::string> prices;
  std::string skus;
  bool json = false;
};

int batch(const BatchOptions& options) {
  const auto store = store::RunStore::open(store_path(options.selection.db), store::OpenMode::kReadOnly);
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
  command->add_option("--skus", options->skus, "TOML file with SKUs and prices of your own");
  command->add_flag("--json", options->json, "For a program; the schema is reports/schema/batch.schema.json");
  command->callback([&action, options] { action = [options] { return batch(*options); }; });
}

}  // namespace ddbench::cli
