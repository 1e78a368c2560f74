#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analyzer/cost/curve/curve_costs.h"
#include "analyzer/scaling/scaling_curve.h"
#include "harness/cli/analysis/cost_options.h"
#include "harness/cli/options/open_store.h"
#include "harness/cli/options/command.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/run_selection.h"
#include "harness/cli/options/shared_options.h"
#include "reports/chart/svg.h"
#include "reports/formats/terminal/analysis.h"
#include "reports/text/output_file.h"

namespace ddbench::cli {
namespace {

struct ScalingOptions {
  RunSelection selection;
  analyzer::CurveOptions curve;
  std::vector<std::string> predict;
  CostCommandOptions cost;
  std::string svg;
  bool json = false;
};

analyzer::CurveCosts costs_of(const analyzer::ScalingCurve& curve, const ScalingOptions& options, const analyzer::SkuCatalogue& catalogue,
                              const analyzer::CostOptions& cost, std::span<const store::RunRecord> runs) {
  analyzer::CurveCosts costs;
  if (wants_costs(options.cost, runs)) costs.table = analyzer::cost_table(analyzer::offers_of(curve), catalogue, cost);
  if (cost.deadline_h) costs.in_time = analyzer::nodes_in_time(curve, catalogue, cost, options.curve.one_tier);
  return costs;
}

int scaling(ScalingOptions& options) {
  const auto store = open_store(options.selection.db);
  for (const std::string& size : options.predict) options.curve.predict_at.push_back(analyzer::asked_size(size));
  const auto runs = select_runs_or_newest_sweep(store, options.selection);
  const analyzer::SkuCatalogue catalogue = priced_catalogue(options.cost, store, runs);
  options.curve.catalogue = &catalogue;
  const analyzer::CostOptions cost = cost_options(options.cost, store, runs);
  const analyzer::ScalingCurve curve = analyzer::scaling_curve(store, runs, options.curve);
  const analyzer::CurveCosts costs = costs_of(curve, options, catalogue, cost, runs);
  if (!options.svg.empty())
    reports::write_file(options.svg, reports::figure_svg(analyzer::speedup_figure(curve)));
  print(options.json ? reports::curve_json(curve, costs) + "\n" : reports::curve_text(curve, stdout_style(), costs));
  return 0;
}

}  // namespace

void add_scaling_command(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("scaling", "Speedup, efficiency, where it was lost, and the law behind it");
  const auto options = std::make_shared<ScalingOptions>();
  add_selection_options(*command, options->selection);
  command->add_option("--baseline", options->curve.baseline,
                      "What efficiency is stated against: 1 (GPU), node, smallest, or a run reference");
  command
      ->add_option("--predict", options->predict,
                   "Sizes to predict the throughput for: GPUs in nodes like those of the largest runs, or "
                   "nodes x GPUs, e.g. 64,16x8")
      ->delimiter(',');
  command->add_flag("--one-tier", options->curve.one_tier,
                    "Predict as if links between nodes were those inside of a node");
  command->add_flag("--any-provenance", options->curve.any_provenance,
                    "Fit a law though provenances are mixed");
  add_cost_options(*command, options->cost, "Cost");
  command->add_option("--svg", options->svg, "Also draw the speedup into this file");
  add_json_option(*command, options->json, "curve.schema.json");
  add_examples(*command, {{"scaling", "the newest sweep"},
                          {"scaling --where name=gpt2 --baseline node", "runs of this name, against one node"},
                          {"scaling --predict 64,16x8", "what more GPUs would reach"},
                          {"scaling --samples 1e9 --predict 64,128", "hours and USD of measured and predicted sizes"},
                          {"scaling --samples 1e9 --deadline \"fri 18:00\"", "how many nodes finish by Friday"}});
  command->callback([&action, options] { action = [options] { return scaling(*options); }; });
}

}  // namespace ddbench::cli
