#include <CLI/CLI.hpp>
#include <memory>

#include "analyzer/catalogue/sku_catalogue.h"
#include "analyzer/collectives/micro_table.h"
#include "analyzer/diagnose/diagnose_run.h"
#include "analyzer/predict/advice.h"
#include "analyzer/run/run_summary.h"
#include "core/run_case/program_case.h"
#include "harness/cli/options/open_store.h"
#include "harness/cli/options/command.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/recover.h"
#include "harness/cli/options/shared_options.h"
#include "reports/formats/diagnose/diagnosis.h"
#include "reports/formats/json/json.h"
#include "reports/formats/predict/prediction.h"
#include "reports/formats/terminal/micro.h"
#include "reports/formats/terminal/text.h"

namespace ddbench::cli {
namespace {

struct ShowOptions {
  std::string reference = "last";
  std::string db;
  bool json = false;
};

int show(const ShowOptions& options) {
  auto store = open_store(options.db);
  store::RunRecord run = store.find(options.reference);
  if (recover_run_to_show(options.db, run)) {
    store = open_store(options.db);
    run = store.find(run.id);
  }
  if (is_micro(run.run_case)) {
    const analyzer::MicroTable table = analyzer::micro_table(store, run);
    print(options.json ? reports::micro_json(table) + "\n" : reports::micro_text(table, stdout_style()));
    return 0;
  }
  const analyzer::RunSummary summary = analyzer::summarize(store, run.id, analyzer::SkuCatalogue::load());
  if (options.json) {
    print(reports::run_json(summary) + "\n");
    return 0;
  }
  print(reports::run_text(summary, stdout_style()));
  if (const auto diagnosis = analyzer::diagnose_run(store, run.id))
    print(reports::diagnosis_section(run.id, *diagnosis, options.db, stdout_style()));
  if (const auto advice = analyzer::advice_of(store, summary.run); advice && !advice->advice.empty())
    print(reports::advice_section(*advice, options.db, stdout_style()));
  return 0;
}

}  // namespace

void add_show_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("show", "Show the report of a stored run");
  const auto options = std::make_shared<ShowOptions>();
  command->add_option("run", options->reference, "'last', a run id or a part of one, or a run's name")
      ->capture_default_str();
  add_db_option(*command, options->db);
  add_json_option(*command, options->json, "run.schema.json, micro.schema.json");
  add_examples(*command, {{"show", "the newest run"},
                          {"show 4f3a", "the run whose id begins or ends so"},
                          {"show nightly --json", "the newest run of this name, for a program"}});
  command->callback([&action, options] { action = [options] { return show(*options); }; });
}

}  // namespace ddbench::cli
