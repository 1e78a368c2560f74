#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "analyzer/store/maintenance/maintenance.h"
#include "core/error.h"
#include "harness/cli/data/prune.h"
#include "harness/cli/options/open_store.h"
#include "harness/cli/options/command.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/run_selection.h"
#include "harness/cli/options/recover.h"
#include "harness/cli/options/shared_options.h"
#include "reports/formats/json/json.h"

namespace ddbench::cli {
namespace {

using Json = nlohmann::ordered_json;

struct DbOptions {
  RunSelection selection;
  std::vector<std::string> files;
  std::string target;
  bool json = false;
};

void print_merge(const DbOptions& options, const store::MergeResult& result,
                 const std::filesystem::path& target) {
  if (options.json) {
    print(Json({{"schema_version", reports::kJsonSchemaVersion},
                {"store", target.string()},
                {"added", result.added},
                {"unchanged", result.unchanged}})
              .dump(-1, ' ', true, Json::error_handler_t::replace) +
          "\n");
    return;
  }
  print(fmt::format("{}: {} run(s) added, {} were there already\n", printable(target.string()),
                    result.added.size(), result.unchanged.size()));
}

int merge(const DbOptions& options) {
  const std::filesystem::path target = store_path(options.selection.db);
  print_merge(options,
              store::merge_stores(
                  target, std::vector<std::filesystem::path>(options.files.begin(), options.files.end())),
              target);
  return 0;
}

int export_runs(const DbOptions& options) {
  const std::filesystem::path source = store_path(options.selection.db);
  std::vector<store::RunId> ids;
  {
    const auto store = open_store(options.selection.db);
    const auto runs = options.selection.is_empty() ? store.runs() : select_runs(store, options.selection);
    for (const store::RunRecord& run : runs) ids.push_back(run.id);
  }
  print_merge(options, store::export_runs(source, ids, options.target), options.target);
  return 0;
}

int check(const DbOptions& options) {
  const std::filesystem::path file = store_path(options.selection.db);
  const store::CheckResult result = store::check_store(file);
  if (options.json) {
    print(Json({{"schema_version", reports::kJsonSchemaVersion},
                {"store", file.string()},
                {"runs", result.runs},
                {"steps", result.steps},
                {"spans", result.spans},
                {"journal", result.journal},
                {"problems", result.problems}})
              .dump(-1, ' ', true, Json::error_handler_t::replace) +
          "\n");
  } else {
    print(fmt::format("{}: {} runs, {} steps, {} spans\n{}\n", printable(file.string()), result.runs,
                      result.steps, result.spans, printable(result.journal)));
    for (const std::string& problem : result.problems) print("  " + printable(problem) + "\n");
    if (result.problems.empty()) print("no problems found\n");
  }
  return result.problems.empty() ? 0 : static_cast<int>(ErrorCode::kBadInput);
}

CLI::App* add_subcommand(CLI::App& db, const char* name, const char* description, DbOptions& options) {
  CLI::App* command = db.add_subcommand(name, description);
  add_json_option(*command, options.json);
  return command;
}

void add_prune(CLI::App& db, Action& action) {
  CLI::App* command =
      db.add_subcommand("prune", "Delete runs, with the folders beside the store, or only their raw spans");
  const auto options = std::make_shared<PruneOptions>();
  command->add_option("runs", options->runs,
                      "Ids of runs, or unique parts of them (default: chosen by the options)");
  add_selection_options(*command, options->selection);
  command->add_option("--older-than", options->older_than, "Runs that started longer ago: 12h, 90d, 4w");
  command->add_option("--keep-last", options->keep_last, "Keep the newest N of the selected runs")
      ->check(CLI::PositiveNumber);
  command->add_option("--state", options->states, "Runs in these states: failed,interrupted,preempted,done; running only with --stale")
      ->delimiter(',');
  command->add_flag("--stale", options->stale,
                    "Only runs that are stored as running though their ddbench is gone, or has given no sign of life for 5 "
                    "minutes");
  command->add_flag("--invalid", options->invalid, "Runs whose figures must not be used");
  command->add_flag("--spans", options->spans_only,
                    "Delete raw spans only: steps, collectives and kernels stay");
  command->add_flag("--yes", options->yes, "Delete; without it only list what would be deleted (dry run)");
  add_json_option(*command, options->json);
  command->callback([&action, options] { action = [options] { return prune(*options); }; });
}

void add_recover(CLI::App& db, Action& action) {
  CLI::App* command = db.add_subcommand(
      "recover",
      "Complete runs that a killed ddbench or a full disk left: store what their ranks had measured");
  const auto options = std::make_shared<RecoverOptions>();
  command->add_option("run", options->run,
                      "Id of a run, or a unique part of it (default: all that can be recovered)");
  add_db_option(*command, options->db);
  add_json_option(*command, options->json);
  command->callback([&action, options] { action = [options] { return recover(*options); }; });
}

}  // namespace

void add_db_command(CLI::App& app, Action& action) {
  CLI::App* db = app.add_subcommand("db", "Merge, export, prune, recover and check result databases");
  db->require_subcommand(1);
  add_examples(*db, {{"db merge node1.db node2.db", "copy their runs into the default store"},
                     {"db export team.db --where name=nightly", "copy these runs out"},
                     {"db prune --older-than 90d --spans --yes", "delete old raw spans, keep the figures"},
                     {"db check", "read everything and name what is damaged"}});
  const auto options = std::make_shared<DbOptions>();

  CLI::App* merging = add_subcommand(
      *db, "merge", "Copy the runs of other stores into this one; runs keep their ids", *options);
  merging->add_option("stores", options->files, "Stores to copy from")->required();
  add_db_option(*merging, options->selection.db);
  merging->callback([&action, options] { action = [options] { return merge(*options); }; });

  CLI::App* exporting =
      add_subcommand(*db, "export", "Copy runs into another store (all, or those chosen)", *options);
  exporting->add_option("store", options->target, "Store to copy into; created when missing")->required();
  add_selection_options(*exporting, options->selection);
  exporting->callback([&action, options] { action = [options] { return export_runs(*options); }; });

  add_prune(*db, action);
  add_recover(*db, action);

  CLI::App* checking = add_subcommand(
      *db, "check", "Verify the store and list what is wrong; exit code 2 if anything is", *options);
  add_db_option(*checking, options->selection.db);
  checking->callback([&action, options] { action = [options] { return check(*options); }; });
}

}  // namespace ddbench::cli
