#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "analyzer/gate/gate_baselines.h"
#include "core/error.h"
#include "harness/cli/options/command.h"
#include "harness/cli/options/open_store.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/shared_options.h"
#include "harness/cli/store/others_runs.h"
#include "reports/formats/gate/gate.h"

namespace ddbench::cli {
namespace {

struct BaselineOptions {
  std::string name;
  std::string reference;
  std::string db;
  bool force = false;
  bool json = false;
};

store::RunStore open(const BaselineOptions& options, store::OpenMode mode) {
  const std::filesystem::path file = store_path(options.db);
  // A baseline of a store that does not exist is a mistake, not a reason to make one.
  if (mode == store::OpenMode::kReadWrite) store::RunStore::open(file, store::OpenMode::kReadOnly);
  return open_store(options.db, mode);
}

int print_baselines(const BaselineOptions& options, const std::vector<store::NamedBaseline>& baselines) {
  print(options.json ? reports::baselines_json(baselines) + "\n"
                     : reports::baselines_text(baselines, stdout_style()));
  return 0;
}

int set(const BaselineOptions& options) {
  store::RunStore store = open(options, store::OpenMode::kReadWrite);
  return print_baselines(options, {analyzer::set_baseline(store, options.name, options.reference)});
}

int list(const BaselineOptions& options) {
  return print_baselines(options, open(options, store::OpenMode::kReadOnly).baselines());
}

int show(const BaselineOptions& options) {
  const store::RunStore store = open(options, store::OpenMode::kReadOnly);
  const std::vector<store::NamedBaseline> versions = store.baseline_versions(options.name);
  if (versions.empty()) {
    std::string names;
    for (const store::NamedBaseline& baseline : store.baselines())
      names += (names.empty() ? "" : ", ") + baseline.name;
    throw Error(ErrorCode::kBadInput, fmt::format("there is no baseline \"{}\"; there {}", options.name,
                                                  names.empty() ? "are none" : "is " + names));
  }
  print_baselines(options, versions);
  if (options.json) return 0;
  print(fmt::format("\nruns of version {}\n", versions.back().version));
  for (const store::RunId& id : versions.back().runs) {
    print(fmt::format("  {}{}\n", printable(id), store.run(id) ? "" : "  (deleted)"));
  }
  return 0;
}

/// In a store that several users share, one that names their runs stays.
void refuse_others(const store::RunStore& store, const BaselineOptions& options) {
  const OthersRuns others(store.file(), options.force);
  for (const store::NamedBaseline& version : store.baseline_versions(options.name)) {
    for (const store::RunId& id : version.runs) {
      const auto run = store.run(id);
      if (!run || !others.contain(*run)) continue;
      throw Error(ErrorCode::kBadInput, fmt::format("the baseline \"{}\" of the shared store {} names run {} of {}: ask them, or add --force",
                                                    options.name, store.file().string(), id, user_of(*run)));
    }
  }
}

int remove(const BaselineOptions& options) {
  store::RunStore store = open(options, store::OpenMode::kReadWrite);
  refuse_others(store, options);
  store.delete_baseline(options.name);
  return 0;
}

}  // namespace

void add_baseline_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("baseline", "Name the runs that `gate` compares with");
  command->require_subcommand(1);
  const auto options = std::make_shared<BaselineOptions>();
  const auto add = [&](const char* name, const char* what, int (*act)(const BaselineOptions&)) {
    CLI::App* sub = command->add_subcommand(name, what);
    add_db_option(*sub, options->db);
    add_json_option(*sub, options->json, "baselines.schema.json");
    sub->callback([&action, options, act] { action = [options, act] { return act(*options); }; });
    return sub;
  };
  add_examples(*command, {{"baseline set main name=main,state=done", "all finished runs of this name"},
                          {"baseline list", "the newest version of each"}});
  CLI::App* set_command = add("set", "Make these runs the next version of a baseline", set);
  set_command->add_option("name", options->name, "Of the baseline")->required();
  set_command->add_option("ref", options->reference, "Its runs: a REF as `gate --baseline` takes it")
      ->required();
  add("list", "The newest version of each", list);
  add("show", "All versions of one", show)->add_option("name", options->name, "Of the baseline")->required();
  CLI::App* deleting = add("delete", "Forget all versions of one; its runs stay", remove);
  deleting->add_option("name", options->name, "Of the baseline")->required();
  deleting->add_flag("--force", options->force, "Also one that names runs of other users, in a store that several users share");
}

}  // namespace ddbench::cli
