#include "harness/cli/analysis/cost_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <set>

#include "analyzer/catalogue/sku_check.h"
#include "analyzer/cost/curve/curve_costs.h"
#include "core/error.h"
#include "analyzer/cost/deadline.h"
#include "harness/cli/options/shared_options.h"

namespace ddbench::cli {

void add_cost_options(CLI::App& command, CostCommandOptions& options, const char* group) {
  command.add_option("--epoch-samples", options.epoch_samples, "Samples of one epoch")->group(group);
  command.add_option("--epochs", options.epochs, "Epochs to train")->group(group);
  command.add_option("--samples", options.samples, "Samples to train, instead of epochs")->group(group)->excludes("--epochs");
  command
      .add_option("--deadline", options.deadline,
                  "When training must end: hours from now (36), a day (friday, 2026-11-27), or a day with a time (\"fri 18:00\")")
      ->group(group);
  command.add_option("--price", options.prices, "NAME=USD_PER_HOUR[,spot=USD][,preemptions=PER_HOUR] of a node")
      ->group(group)
      ->take_all()
      ->allow_extra_args(false);
  add_skus_option(command, options.skus)->group(group);
  command.add_option("--checkpoint-s", options.checkpoint_s, "Seconds to write a checkpoint (default: as the runs measured with --checkpoint-every, else 60)")
      ->group(group);
  command.add_option("--restart-s", options.restart_s, "Seconds to start again after an interruption")->group(group)->capture_default_str();
  command.add_option("--node-mtbf-h", options.node_mtbf_h, "Hours between failures of a node; 0: never")->group(group)->capture_default_str();
}

analyzer::CostOptions cost_options(const CostCommandOptions& options, const store::RunStore& store, std::span<const store::RunRecord> runs) {
  analyzer::CostOptions cost;
  cost.restart_s = options.restart_s;
  cost.node_mtbf_h = options.node_mtbf_h;
  if (options.epoch_samples) cost.samples_per_epoch = *options.epoch_samples;
  if (options.samples) cost.samples_total = *options.samples;
  if (options.epochs) {
    if (!options.epoch_samples) throw Error(ErrorCode::kBadInput, "--epochs needs --epoch-samples");
    cost.samples_total = *options.epochs * *options.epoch_samples;
  }
  if (!options.deadline.empty()) {
    if (!cost.samples_total) throw Error(ErrorCode::kBadInput, "--deadline needs --samples, or --epochs and --epoch-samples");
    cost.deadline_h = analyzer::hours_until(options.deadline, std::time(nullptr));
  }
  if (options.checkpoint_s) {
    cost.checkpoint_s = *options.checkpoint_s;
    cost.checkpoint_source = "given";
  } else if (const auto measured = analyzer::checkpoint_seconds(store, runs)) {
    cost.checkpoint_s = *measured;
    cost.checkpoint_source = "measured";
  }
  return cost;
}

bool wants_costs(const CostCommandOptions& options, std::span<const store::RunRecord> runs) {
  return !options.prices.empty() || options.samples || options.epoch_samples ||
         std::any_of(runs.begin(), runs.end(), [](const store::RunRecord& run) { return !run.run_case.sku.empty(); });
}

analyzer::SkuCatalogue priced_catalogue(const CostCommandOptions& options, const store::RunStore& store,
                                        std::span<const store::RunRecord> runs) {
  analyzer::SkuCatalogue catalogue = analyzer::SkuCatalogue::load(options.skus);
  std::set<std::string> skus;
  for (const store::RunRecord& run : runs) {
    if (!run.run_case.sku.empty()) skus.insert(run.run_case.sku);
    if (run.baseline_id.empty()) continue;
    const auto baseline = store.run(run.baseline_id);  // a curve has it too
    if (baseline && !baseline->run_case.sku.empty()) skus.insert(baseline->run_case.sku);
  }
  analyzer::set_prices(catalogue, options.prices, skus);
  return catalogue;
}

}  // namespace ddbench::cli
