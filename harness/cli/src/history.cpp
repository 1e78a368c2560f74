#include <CLI/CLI.hpp>
#include <memory>

#include "command.h"
#include "ddbench/analyzer/run_history.h"
#include "ddbench/reports/gate.h"
#include "ddbench/reports/output_file.h"
#include "ddbench/reports/svg.h"
#include "output.h"

namespace ddbench::cli {
namespace {

struct HistoryOptions {
  std::string metric = "step_time";
  std::string where;
  std::string db;
  std::string svg;
  bool json = false;
};

int history(const HistoryOptions& options) {
  const analyzer::RunMetric metric = analyzer::run_metric_from(options.metric);
  std::vector<analyzer::FieldCondition> conditions;
  if (!options.where.empty()) conditions = analyzer::parse_conditions(options.where);
  const auto store = store::RunStore::open(store_path(options.db), store::OpenMode::kReadOnly);
  const analyzer::RunHistory result = analyzer::run_history(store, metric, conditions);
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
                   "step_time, throughput, efficiency, exposed, busbw or peak_memory")
      ->capture_default_str();
  command->add_option("--where", options->where,
                      "Only runs with field=value[,field=value], as in name=main,nodes=4");
  command->add_option("--db", options->db,
                      "Store (default: $DDBENCH_DB or ~/.local/share/ddbench/results.db)");
  command->add_option("--svg", options->svg, "Also draw it into this file");
  command->add_flag("--json", options->json,
                    "For a program; the schema is reports/schema/history.schema.json");
  command->callback([&action, options] { action = [options] { return history(*options); }; });
}

}  // namespace ddbench::cli
