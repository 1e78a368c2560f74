#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/gate/run_history.h"
#include "harness/cli/options/open_store.h"
#include "harness/cli/options/command.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/run_selection.h"
#include "harness/cli/options/shared_options.h"
#include "reports/chart/svg.h"
#include "reports/formats/gate/gate.h"
#include "reports/text/output_file.h"

namespace ddbench::cli {
namespace {

struct HistoryOptions {
  std::string metric = "step_time";
  std::string where;
  std::string db;
  std::string svg;
  std::size_t last = 5000;
  bool json = false;
};

int history(const HistoryOptions& options) {
  const analyzer::RunMetric metric = analyzer::run_metric_from(options.metric);
  std::vector<analyzer::FieldCondition> conditions;
  if (!options.where.empty()) conditions = analyzer::parse_conditions(options.where);
  const auto store = open_store(options.db);
  const analyzer::RunHistory result = analyzer::run_history(store, metric, conditions, options.last);
  if (result.series.empty() && !options.where.empty()) {
    RunSelection selection;
    selection.where = {options.where};
    select_runs(store, selection);  // refuses what no run matches; runs that match may be unfinished
  }
  if (!options.svg.empty())
    reports::write_file(options.svg, reports::figure_svg(analyzer::history_figure(result)));
  print(options.json ? reports::history_json(result) + "\n" : reports::history_text(result, stdout_style()));
  return 0;
}

}  // namespace

void add_history_command(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("history", "Runs of each case over time, and where their level changed");
  const auto options = std::make_shared<HistoryOptions>();
  command
      ->add_option("--metric", options->metric,
                   "step_time, throughput, efficiency, exposed, busbw, host_memory or device_memory")
      ->capture_default_str();
  command->add_option("--where", options->where,
                      "Only runs with field=value[,field=value], as in name=main,nodes=4");
  command->add_option("--last", options->last, "The newest N runs; 0: all")->capture_default_str();
  add_db_option(*command, options->db);
  command->add_option("--svg", options->svg, "Also draw it into this file");
  add_json_option(*command, options->json, "history.schema.json");
  add_examples(*command, {{"history", "step times of all cases"},
                          {"history --metric throughput --where name=nightly", "the throughput of these runs"},
                          {"history --svg history.svg", "as a picture, too"}});
  command->callback([&action, options] { action = [options] { return history(*options); }; });
}

}  // namespace ddbench::cli
