#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "analyzer/store/maintenance/maintenance.h"
#include "analyzer/store/maintenance/shared_store.h"
#include "analyzer/store/rows/run_store.h"
#include "core/error.h"
#include "harness/cli/options/command.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/recover.h"
#include "harness/cli/options/shared_options.h"
#include "harness/cli/store/collect.h"
#include "harness/cli/store/export_runs.h"
#include "harness/cli/store/prune.h"
#include "reports/formats/json/json.h"

namespace ddbench::cli {
namespace {

struct DbOptions {
  std::string db;
  std::vector<std::string> files;
  bool json = false;
};

struct CreateOptions {
  std::string store;
  std::string group;
  bool shared = false;
  bool json = false;
};

int merge(const DbOptions& options) {
  const std::filesystem::path target = store_path(options.db);
  print_merge(options.json,
              store::merge_stores(
                  target, std::vector<std::filesystem::path>(options.files.begin(), options.files.end())),
              target);
  return 0;
}

int check(const DbOptions& options) {
  const std::filesystem::path file = store_path(options.db);
  const store::CheckResult result = store::check_store(file);
  if (options.json) {
    print_json({{"schema_version", reports::kJsonSchemaVersion},
                {"store", file.string()},
                {"runs", result.runs},
                {"steps", result.steps},
                {"spans", result.spans},
                {"journal", result.journal},
                {"problems", result.problems}});
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

int create(const CreateOptions& options) {
  const std::filesystem::path file = options.store;
  std::error_code ignored;
  const bool is_shared = options.shared || !options.group.empty();
  if (is_shared) {
    store::create_shared_store(file, options.group);
  } else if (std::filesystem::exists(file, ignored)) {
    throw Error(ErrorCode::kBadInput, fmt::format("{} is there already", file.string()), EEXIST, file.string());
  } else {
    store::RunStore::open(file, store::OpenMode::kReadWrite);
  }
  const std::string group = is_shared ? store::group_of(file) : "";
  if (options.json) {
    print_json({{"schema_version", reports::kJsonSchemaVersion}, {"store", file.string()}, {"group", group}});
  } else {
    print(fmt::format("{}: created{}\n", printable(file.string()),
                      is_shared ? fmt::format(", for the members of group {}; they name it with --db or DDBENCH_DB", printable(group)) : ", for this user"));
  }
  return 0;
}

void add_create(CLI::App& db, Action& action) {
  CLI::App* command = db.add_subcommand("create", "Create an empty store. Commands that write one do so, too; here it can be one that users share");
  const auto options = std::make_shared<CreateOptions>();
  command->add_option("store", options->store, "File to create, with its directory where it is missing")->required();
  command->add_flag("--shared", options->shared,
                    "All members of a group may write it, whatever their umask: mode 0660 in a directory of mode 2770");
  command->add_option("--group", options->group,
                      "The group, with --shared (default: that of the directory, or yours if the directory is created)");
  add_json_option(*command, options->json);
  command->callback([&action, options] { action = [options] { return create(*options); }; });
}

void add_export(CLI::App& db, Action& action) {
  CLI::App* command = db.add_subcommand("export", "Copy runs into another store (all, or those chosen)");
  const auto options = std::make_shared<ExportOptions>();
  command->add_option("store", options->target, "Store to copy into, created when missing; -: a new one, to standard output, or nothing without a run")
      ->required();
  add_selection_options(*command, options->selection);
  command->add_flag("--finished", options->finished, "Leave out runs that are running or being analyzed");
  command->add_option("--known", options->known_file, "Leave out the runs whose ids are the lines of this file; -: standard input");
  add_json_option(*command, options->json);
  command->callback([&action, options] { action = [options] { return export_runs(*options); }; });
}

void add_collect(CLI::App& db, Action& action) {
  CLI::App* command = db.add_subcommand(
      "collect", "Copy the new runs of other machines' stores into this one: for a timer. Exit code 1 if a source fails; the others are collected");
  const auto options = std::make_shared<CollectOptions>();
  command->add_option("sources", options->sources,
                      "[USER@]HOST[:STORE] over ssh, or a path (with a /): a store, or a folder for each results.db below it")
      ->required();
  add_db_option(*command, options->db);
  command->add_option("--keep-days", options->keep_days, "Delete runs that were collected from these sources and started longer ago (default: keep all)")
      ->check(CLI::Range(1, 36'500));
  command->add_option("--keep", options->keep, "Delete runs that were collected from these sources, but the newest N of each; with --keep-days, only what neither keeps")
      ->check(CLI::PositiveNumber);
  command->add_option("--ssh", options->ssh.ssh, "The ssh command, such as \"ssh -p 2222 -i KEY\"")->capture_default_str();
  command->add_option("--remote-ddbench", options->ssh.remote_ddbench, "The ddbench command on the other machines")->capture_default_str();
  command->add_option_function<int>(
             "--timeout", [options](int seconds) { options->ssh.timeout = std::chrono::seconds(seconds); }, "Seconds for one host")
      ->check(CLI::PositiveNumber)
      ->default_str("3600");
  command->add_option("--max-bytes", options->ssh.most_bytes, "Bytes that one host may send")->check(CLI::PositiveNumber)->capture_default_str();
  add_json_option(*command, options->json);
  command->callback([&action, options] { action = [options] { return collect(*options); }; });
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
      ->delimiter(',')
      ->take_all()
      ->allow_extra_args(false);
  command->add_flag("--stale", options->stale,
                    "Only runs that are stored as running though their ddbench is gone, or has given no sign of life for 15 "
                    "minutes");
  command->add_flag("--invalid", options->invalid, "Runs whose figures must not be used");
  command->add_flag("--spans", options->spans_only,
                    "Delete raw spans only: steps, collectives and kernels stay");
  command->add_flag("--force", options->force, "Also runs of other users, in a store that several users share (db create --shared)");
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
                      "Id of a run, or a unique part of it (default: all that can be recovered). One that is stored as running is "
                      "closed if its ddbench has given no sign of life for 15 minutes");
  command->add_flag("--force", options->force, "Close a run that is stored as running at once. Should its ddbench live, it ends when it "
                                               "next writes to the store");
  add_db_option(*command, options->db);
  add_json_option(*command, options->json);
  command->callback([&action, options] { action = [options] { return recover(*options); }; });
}

}  // namespace

void add_db_command(CLI::App& app, Action& action) {
  CLI::App* db = app.add_subcommand("db", "Create, merge, collect, export, prune, recover and check result databases");
  db->require_subcommand(1);
  add_examples(*db, {{"db merge node1.db node2.db", "copy their runs into the default store"},
                     {"db export team.db --where name=nightly", "copy these runs out"},
                     {"db create --shared --group ml /srv/ddbench/results.db", "for all users of the group"},
                     {"db collect node1 node2 --keep-days 90", "their new runs, over ssh"},
                     {"db prune --older-than 90d --spans --yes", "delete old raw spans, keep the figures"},
                     {"db check", "read everything and name what is damaged"}});
  const auto options = std::make_shared<DbOptions>();

  CLI::App* merging = add_subcommand(
      *db, "merge", "Copy the runs of other stores into this one; runs keep their ids", *options);
  merging->add_option("stores", options->files, "Stores to copy from")->required();
  add_db_option(*merging, options->db);
  merging->callback([&action, options] { action = [options] { return merge(*options); }; });

  add_export(*db, action);
  add_create(*db, action);
  add_collect(*db, action);
  add_prune(*db, action);
  add_recover(*db, action);

  CLI::App* checking = add_subcommand(
      *db, "check", "Verify the store and list what is wrong; exit code 2 if anything is", *options);
  add_db_option(*checking, options->db);
  checking->callback([&action, options] { action = [options] { return check(*options); }; });
}

}  // namespace ddbench::cli
