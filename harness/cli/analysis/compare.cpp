#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "analyzer/comparison/compare.h"
#include "analyzer/comparison/compare_by.h"
#include "core/error.h"
#include "harness/cli/analysis/cost_options.h"
#include "harness/cli/options/command.h"
#include "harness/cli/options/open_store.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/run_selection.h"
#include "harness/cli/options/shared_options.h"
#include "reports/formats/terminal/analysis.h"

namespace ddbench::cli {
namespace {

constexpr const char* kCostGroup = "Cost";

struct CompareOptions {
  std::vector<std::string> sides;
  RunSelection selection;
  std::string by;
  std::string reference;
  CostCommandOptions cost;
  bool json = false;
};

[[noreturn]] void throw_usage(const std::string& message) {
  throw Error(ErrorCode::kBadInput, message + "\nTry: ddbench compare --help");
}

int compare_sides(const store::RunStore& store, const CompareOptions& options) {
  const analyzer::Comparison comparison =
      analyzer::compare_runs(store, analyzer::compared_side(store, options.sides[0]), analyzer::compared_side(store, options.sides[1]));
  print(options.json ? reports::comparison_json(comparison) + "\n"
                     : reports::comparison_text(comparison, stdout_style()));
  return 0;
}

int compare_groups(const store::RunStore& store, const CompareOptions& options) {
  const std::vector<store::RunRecord> runs = select_runs(store, options.selection);
  const analyzer::GroupComparison groups = analyzer::compare_by(store, runs, options.by, options.reference);
  analyzer::CostTable costs;
  const analyzer::CostOptions cost = cost_options(options.cost, store, runs);
  if (options.by == "sku" || wants_costs(options.cost, runs))
    costs = analyzer::cost_table(analyzer::offers_of(groups), priced_catalogue(options.cost), cost);
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

}  // namespace

void add_compare_command(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("compare", "Show what changed between runs, or compare groups of runs by a field");
  const auto options = std::make_shared<CompareOptions>();
  command->add_option("runs", options->sides,
                      "A and B: run, sweep, named baseline, or field=value[,field=value...]");
  CLI::Option* by =
      command->add_option("--by", options->by, "Group all chosen runs by this field: network, sku, strategy, link, ...");
  command->add_option("--reference", options->reference, "The value that others are compared with")->needs(by);
  add_selection_options(*command, options->selection);
  add_cost_options(*command, options->cost, kCostGroup);
  for (CLI::Option* option : command->get_options()) {
    if (option->get_group() == kCostGroup) option->needs(by);  // two sides have no offers to choose from
  }
  add_json_option(*command, options->json, "comparison.schema.json, groups.schema.json");
  add_examples(*command, {{"compare main candidate", "runs of two names, part by part"},
                          {"compare 4f3a 91c0", "two runs"},
                          {"compare --by network", "all runs of the store, by their network"},
                          {"compare --by sku --samples 1e9 --price a100=27.2", "cost per SKU"}});
  command->callback([&action, options] { action = [options] { return compare(*options); }; });
}

}  // namespace ddbench::cli
