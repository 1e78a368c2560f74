#include "harness/cli/options/shared_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/run_case/run_case.h"

namespace ddbench::cli {

CLI::Option* add_db_option(CLI::App& command, std::string& db) {
  // An unset variable of a script, which would otherwise write into the user's own store.
  const CLI::Validator has_a_name([](const std::string& path) { return std::string(path.empty() ? "the path is empty" : ""); }, "");
  return command.add_option("--db", db, "Store (default: $DDBENCH_DB or ~/.local/share/ddbench/results.db)")->check(has_a_name);
}

CLI::Option* add_json_option(CLI::App& command, bool& json, std::string_view schemas) {
  return command.add_flag(
      "--json", json,
      schemas.empty() ? "Print JSON" : fmt::format("Print JSON, as in reports/schema/{}", schemas));
}

CLI::Option* add_quiet_option(CLI::App& command, bool& quiet) {
  return command.add_flag("--quiet", quiet, "Do not report progress");
}

CLI::Option* add_skus_option(CLI::App& command, std::string& skus) {
  return command.add_option("--skus", skus, "TOML file with SKUs, peaks and prices of your own");
}

template <typename Enum>
CLI::Option* add_choice(CLI::App& command, const std::string& name, Enum& value, const std::string& meaning) {
  auto* option = command.add_option_function<std::string>(
      name, [&value, name](const std::string& text) { value = choice_from<Enum>(name, text); }, meaning);
  if (const std::string_view usual = to_string(value); !usual.empty()) option->default_str(std::string(usual));
  return option;
}

template CLI::Option* add_choice(CLI::App&, const std::string&, LearningRateRule&, const std::string&);
template CLI::Option* add_choice(CLI::App&, const std::string&, CudaGraphs&, const std::string&);
template CLI::Option* add_choice(CLI::App&, const std::string&, NetworkRequest&, const std::string&);

void add_examples(CLI::App& command, std::initializer_list<Example> examples, std::string_view more) {
  constexpr std::size_t kWidest = 50;
  std::size_t width = 0;
  for (const Example& example : examples) {
    if (example.arguments.size() <= kWidest) width = std::max(width, example.arguments.size());
  }
  std::string text = "Examples:";
  for (const Example& example : examples) {
    text += fmt::format("\n  ddbench {:<{}}", example.arguments, width);
    // A long command has its meaning below it.
    text += example.arguments.size() > width ? fmt::format("\n          {:<{}}  ", "", width) : "  ";
    text += example.meaning;
  }
  if (!more.empty()) text += fmt::format("\n\n{}", more);
  command.footer(std::move(text));
}

}  // namespace ddbench::cli
