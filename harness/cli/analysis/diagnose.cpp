#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "analyzer/diagnose/diagnose_run.h"
#include "harness/cli/options/command.h"
#include "harness/cli/options/open_store.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/shared_options.h"
#include "reports/formats/diagnose/diagnosis.h"

namespace ddbench::cli {
namespace {

constexpr int kNoVerdict = 4;

struct DiagnoseCommand {
  std::string run = "last";
  std::string reference;
  std::string db;
  bool json = false;
};

int diagnose(const DiagnoseCommand& command) {
  const auto store = open_store(command.db);
  const store::RunRecord run = store.find(command.run);
  std::optional<store::RunRecord> reference;
  if (!command.reference.empty()) reference = store.find(command.reference);
  const auto diagnosis = analyzer::diagnose_run(store, run.id, reference);
  print(command.json ? reports::diagnosis_json(run, diagnosis) + "\n" : reports::diagnosis_text(run, diagnosis, stdout_style()));
  return diagnosis ? 0 : kNoVerdict;
}

}  // namespace

void add_diagnose_command(CLI::App& app, Action& action) {
  CLI::App* diagnosed = app.add_subcommand("diagnose", "Who is slow, why, and what it costs; exit code 4 where nothing can be said");
  const auto command = std::make_shared<DiagnoseCommand>();
  diagnosed->add_option("run", command->run, "'last', a run id or a part of one, or a run's name")->capture_default_str();
  diagnosed->add_option("--reference", command->reference, "Also look for an operator that is slower than in this run of the same case");
  add_db_option(*diagnosed, command->db);
  add_json_option(*diagnosed, command->json, "diagnosis.schema.json");
  add_examples(*diagnosed, {{"diagnose", "the newest run"}, {"diagnose nightly --json", "the newest run of this name, for a program"},
                            {"diagnose last --reference 4f3a", "which operator is slower than it was in run 4f3a"}});
  diagnosed->callback([&action, command] { action = [command] { return diagnose(*command); }; });
}

}  // namespace ddbench::cli
