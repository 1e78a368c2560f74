#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "analyzer/comparison/compare.h"
#include "analyzer/comparison/compare_by.h"
#include "analyzer/run/run_reference.h"
#include "core/error.h"
#include "harness/cli/options/open_store.h"
#include "harness/cli/options/command.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/run_selection.h"
#include "harness/cli/options/shared_options.h"
#include "reports/formats/terminal/analysis.h"

namespace ddbench::cli {
namespace {

struct CompareOptions {
  std::vector<std::string> sides;
  RunSelection selection;
  std::string by;
  std::string reference;
  std::optional<double> epoch_samples;
  std::optional<double> epochs;
  std::optional<double> samples;
  std::optional<double> deadline_h;
  analyzer::CostOptions cost;
  std::vector<std::string> prices;
  std::string skus;
  bool json = false;
};

[[noreturn]] void throw_usage(const std::string& message) {
  throw Error(ErrorCode::kBadInput, message + "\nTry: ddbench compare --help");
}

analyzer::ComparedSide side_of(const store::RunStore& store, const std::string& reference) {
  analyzer::ResolvedReference resolved = analyzer::resolve_reference(store, reference);
  if (resolved.runs.empty())
    throw Error(ErrorCode::kBadInput, fmt::format("{}: {}", reference, resolved.missing));
  return {resolved.meaning, std::move(resolved.runs)};
}

int compare_sides(const store::RunStore& store, const CompareOptions& options) {
  const analyzer::Comparison comparison =
      analyzer::compare_runs(store, side_of(store, options.sides[0]), side_of(store, options.sides[1]));
  print(options.json ? reports::comparison_json(comparison) + "\n"
                     : reports::comparison_text(comparison, stdout_style()));
  return 0;
}

analyzer::CostOptions cost_options(const CompareOptions& options) {
  analyzer::CostOptions cost = options.cost;
  if (options.epoch_samples) cost.samples_per_epoch = *options.epoch_samples;
  if (options.samples) cost.samples_total = *options.samples;
  if (options.epochs) {
    if (!options.epoch_samples) throw_usage("--epochs needs --epoch-samples");
    cost.samples_total = *options.epochs * *options.epoch_samples;
  }
  if (options.deadline_h) {
    if (!cost.samples_total) throw_usage("--deadline needs --samples, or --epochs and --epoch-samples");
    cost.deadline_h = *options.deadline_h;
  }
  return cost;
}

/// Requested, or implied by the runs themselves.
bool wants_costs(const CompareOptions& options, const std::vector<store::RunRecord>& runs) {
  if (options.by == "sku" || !options.prices.empty() || options.samples || options.epoch_samples) return true;
  for (const store::RunRecord& run : runs) {
    if (!run.run_case.sku.empty()) return true;
  }
  return false;
}

int compare_groups(const store::RunStore& store, const CompareOptions& options) {
  const std::vector<store::RunRecord> runs = select_runs(store, options.selection);
  const analyzer::GroupComparison groups = analyzer::compare_by(store, runs, options.by, options.reference);
  analyzer::CostTable costs;
  const analyzer::CostOptions cost = cost_options(options);
  if (wants_costs(options, runs)) {
    analyzer::SkuCatalogue catalogue = analyzer::SkuCatalogue::load(options.skus);
    for (const std::string& price : options.prices) catalogue.set_price(price);
    costs = analyzer::cost_table(analyzer::offers_of(groups), catalogue, cost);
  }
  print(options.json ? reports::groups_json(groups, costs) + "\n"
                     : reports::groups_text(groups, costs, stdout_style()));
  return 0;
}

int compare(const CompareOptions& options) {
  if (options.by.empty() == options.sides.empty()) throw_usage("compare takes two references, or --by FIELD");
  if (options.by.empty() && options.sides.size() != 2) throw_usage("compare takes two references: A and B");
  if (options.by.empty() && !options.selection.is_empty())
    throw_usage("--sweep and --where choose runs for --by");
  const auto store = open_store(options.selection.db);
  return options.by.empty() ? compare_sides(store, options) : compare_groups(store, options);
}

void add_cost_options(CLI::App& command, CompareOptions& options) {
  constexpr const char* kCost = "Cost (with --by)";
  command.add_option("--epoch-samples", options.epoch_samples, "Samples of one epoch")->group(kCost);
  command.add_option("--epochs", options.epochs, "Epochs to train")->group(kCost);
  command.add_option("--samples", options.samples, "Samples to train, instead of epochs")
      ->group(kCost)
      ->excludes("--epochs");
  command.add_option("--deadline", options.deadline_h, "Hours in which training must end")->group(kCost);
  command
      .add_option("--price", options.prices, "NAME=USD_PER_HOUR[,spot=USD][,preemptions=PER_HOUR] of a node")
      ->group(kCost)
      ->take_all()
      ->allow_extra_args(false);
  add_skus_option(command, options.skus)->group(kCost);
  command.add_option("--checkpoint-s", options.cost.checkpoint_s, "Seconds to write a checkpoint")
      ->group(kCost)
      ->capture_default_str();
  command.add_option("--restart-s", options.cost.restart_s, "Seconds to start again after an interruption")
      ->group(kCost)
      ->capture_default_str();
  command.add_option("--node-mtbf-h", options.cost.node_mtbf_h, "Hours between failures of a node; 0: never")
      ->group(kCost)
      ->capture_default_str();
}

}  // namespace

void add_compare_command(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("compare", "Show what changed between runs, or compare groups of runs by a field");
  const auto options = std::make_shared<CompareOptions>();
  command->add_option("runs", options->sides,
                      "A and B: run, sweep, named baseline, or field=value[,field=value...]");
  command->add_option("--by", options->by,
                      "Group all chosen runs by this field: network, sku, strategy, link, ...");
  command->add_option("--reference", options->reference,
                      "With --by: the value that others are compared with");
  add_selection_options(*command, options->selection);
  add_cost_options(*command, *options);
  add_json_option(*command, options->json, "comparison.schema.json, groups.schema.json");
  add_examples(*command, {{"compare main candidate", "runs of two names, part by part"},
                          {"compare 4f3a 91c0", "two runs"},
                          {"compare --by network", "groups of the newest sweep"},
                          {"compare --by sku --samples 1e9 --price a100=27.2", "cost per SKU"}});
  command->callback([&action, options] { action = [options] { return compare(*options); }; });
}

}  // namespace ddbench::cli
