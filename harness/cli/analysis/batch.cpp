#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "analyzer/batch/batch_analysis.h"
#include "core/run_case/program_case.h"
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

/// Runs to a target loss, or several batches on one number of GPUs.
bool is_about_batches(std::span<const store::RunRecord> runs) {
  std::map<int, std::set<std::int64_t>> batches;
  for (const store::RunRecord& run : runs) {
    if (run.run_case.target_loss > 0) return true;
    if (has_known_batch(run.run_case)) batches[run.run_case.world_size()].insert(run.run_case.global_batch());
  }
  return std::any_of(batches.begin(), batches.end(), [](const auto& size) { return size.second.size() > 1; });
}

int batch(const BatchOptions& options) {
  const auto store = open_store(options.selection.db);
  analyzer::SkuCatalogue catalogue = analyzer::SkuCatalogue::load(options.skus);
  for (const std::string& price : options.prices) catalogue.set_price(price);
  const auto runs = select_runs_or_newest_sweep(store, options.selection, is_about_batches);
  const analyzer::BatchAnalysis analysis = analyzer::batch_analysis(store, runs, catalogue);
  const std::string found = options.selection.is_empty() ? runs.front().sweep_id : "";  // the user has not named it
  print(options.json ? reports::batch_json(analysis) + "\n" : reports::batch_text(analysis, stdout_style(), found));
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
