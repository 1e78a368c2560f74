#include <CLI/CLI.hpp>
#include <memory>

#include "command.h"
#include "ddbench/analyzer/micro_table.h"
#include "ddbench/analyzer/run_summary.h"
#include "ddbench/analyzer/sku_catalogue.h"
#include "ddbench/reports/json.h"
#include "ddbench/reports/micro.h"
#include "ddbench/reports/text.h"
#include "output.h"

namespace ddbench::cli {
namespace {

struct ShowOptions {
  std::string reference = "last";
  std::string db;
  bool json = false;
};

int show(const ShowOptions& options) {
  const auto store = store::RunStore::open(store_path(options.db), store::OpenMode::kReadOnly);
  const store::RunRecord run = store.find(options.reference);
  if (run.run_case.workload == analyzer::kMicroWorkload) {
    const analyzer::MicroTable table = analyzer::micro_table(store, run);
    print(options.json ? reports::micro_json(table) + "\n" : reports::micro_text(table, stdout_style()));
    return 0;
  }
  const analyzer::RunSummary summary = analyzer::summarize(store, run.id, analyzer::SkuCatalogue::load());
  print(options.json ? reports::run_json(summary) + "\n" : reports::run_text(summary, stdout_style()));
  return 0;
}

}  // namespace

void add_show_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("show", "Tell what a stored run measured");
  const auto options = std::make_shared<ShowOptions>();
  command->add_option("run", options->reference, "'last', a run id or a part of one, or a run's name")
      ->capture_default_str();
  command->add_option("--db", options->db,
                      "Store (default: $DDBENCH_DB or ~/.local/share/ddbench/results.db)");
  command->add_flag("--json", options->json,
                    "For a program; reports/schema/run.schema.json, micro.schema.json");
  command->callback([&action, options] { action = [options] { return show(*options); }; });
}

}  // namespace ddbench::cli
