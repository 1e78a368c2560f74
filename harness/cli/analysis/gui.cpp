#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "core/error.h"
#include "harness/cli/analysis/demo_store.h"
#include "harness/cli/options/command.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/shared_options.h"

namespace ddbench::cli {
namespace {

struct GuiOptions {
  std::string db;
  std::string screenshot;
  bool demo = false;
};

/// Becomes the dashboard's executable, which lies beside this one: only that one needs Qt.
int gui(const GuiOptions& options) {
  const std::filesystem::path executable = own_executable().parent_path() / "ddbench-gui";
  const std::filesystem::path store = options.demo ? demo_store() : store_path(options.db);
  std::vector<std::string> arguments{executable.string(), "--db", store.string()};
  if (!options.screenshot.empty()) arguments.insert(arguments.end(), {"--screenshot", options.screenshot});
  std::vector<char*> raw;
  for (std::string& argument : arguments) raw.push_back(argument.data());
  raw.push_back(nullptr);
  ::execv(executable.c_str(), raw.data());
  if (errno == ENOENT) {
    throw Error(ErrorCode::kEnvironment, fmt::format("there is no dashboard here ({} is missing): install "
                                                     "the package ddbench-gui, or run `./quickstart gui` "
                                                     "in the source folder of ddbench, which installs Qt and "
                                                     "builds it; `ddbench report` writes the same "
                                                     "figures without it",
                                                     executable.string()));
  }
  throw Error(ErrorCode::kEnvironment,
              fmt::format("cannot start {}: {}", executable.string(), std::strerror(errno)), errno);
}

}  // namespace

void add_gui_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("gui", "The dashboard");
  const auto options = std::make_shared<GuiOptions>();
  add_db_option(*command, options->db);
  command->add_flag("--demo", options->demo, "Open an example store: published figures with their sources, and small recorded runs")
      ->excludes("--db");
  command->add_option("--screenshot", options->screenshot,
                      "Save screenshots of every page (light and dark, two sizes) to DIR and exit");
  add_examples(*command, {{"gui", "open the dashboard on the default store"},
                          {"gui --db team.db", "on another store"},
                          {"gui --demo", "on an example store, before anything was measured"},
                          {"gui --screenshot pages", "save a picture of every page, without a window"}});
  command->callback([&action, options] { action = [options] { return gui(*options); }; });
}

}  // namespace ddbench::cli
