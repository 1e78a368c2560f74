#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

/// Both: whoever misspelt two names learns of both.
std::vector<analyzer::ComparedSide> sides_of(const store::RunStore& store, const std::vector<std::string>& references) {
  std::vector<analyzer::ComparedSide> sides;
  std::string refused;
  for (const std::string& reference : references) {
    try {
      sides.push_back(analyzer::compared_side(store, reference));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kBadInput) throw;
      refused += (refused.empty() ? "" : "\n") + error.message();
    }
  }
  if (!refused.empty()) throw Error(ErrorCode::kBadInput, refused);
  return sides;
}

int compare_sides(const store::RunStore& store, const CompareOptions& options) {
  std::vector<analyzer::ComparedSide> sides = sides_of(store, options.sides);
  const analyzer::Comparison comparison = analyzer::compare_runs(store, std::move(sides[0]), std::move(sides[1]));
  print(options.json ? reports::comparison_json(comparison) + "\n"
                     : reports::comparison_text(comparison, stdout_style()));
  return 0;
}

int compare_groups(const store::RunStore& store, const CompareOptions& options) {
  const std::vector<store::RunRecord> runs = select_runs(store, options.selection);
  const analyzer::GroupComparison groups = analyzer::compare_by(store, runs, options.by, options.reference);
  analyzer::CostTable costs;
  const analyzer::CostOptions cost = cost_options(options.cost, store, runs);
  const std::vector<analyzer::Offer> offers = analyzer::offers_of(groups);  // of fewer runs: some cases are left out
  const bool has_skus = std::any_of(offers.begin(), offers.end(), [](const analyzer::Offer& offer) { return !offer.sku.empty(); });
  if (options.by == "sku" || has_skus || wants_costs(options.cost, {}))
    costs = analyzer::cost_table(offers, priced_catalogue(options.cost, store, runs), cost);
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
                          {"compare --by sku --samples 1e9 --price ND96asr_v4=27.2", "cost per SKU"}});
  command->callback([&action, options] { action = [options] { return compare(*options); }; });
}

}  // namespace ddbench::cli
