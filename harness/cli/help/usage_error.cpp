#include "harness/cli/help/usage_error.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/text/nearest.h"
#include "harness/cli/help/command_tree.h"

namespace ddbench::cli {
namespace {

/// The innermost command of the command line, as far as it was understood.
const CLI::App& innermost(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().back();
  return *command;
}

std::vector<std::string> long_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string_view kind_of(const std::string& type) {
  if (type.starts_with("INT")) return "an integer";
  if (type.starts_with("UINT")) return "an integer that is not negative";
  if (type.starts_with("FLOAT")) return "a number";
  return {};
}

/// An option of the command with a value that is no value of its type; empty where none is found.
std::string wrong_value(const CLI::App& command, std::string_view message) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string_view kind = kind_of(option->get_type_name());
    const std::string name = option->get_name();
    if (kind.empty() || message.find(" " + name + " = ") == std::string_view::npos) continue;
    std::string got;
    for (const std::string& value : option->results()) got += (got.empty() ? "" : " ") + value;
    const bool is_number = got.find_first_not_of("+-0123456789") == std::string::npos && !got.empty();
    return is_number ? fmt::format("{} {} is too large a number", name, got)
                     : fmt::format("{} expects {}, got \"{}\"", name, kind, got);
  }
  return {};
}

/// The first word of the command line that looks like an option and is none of the command.
std::string unknown_option(const CLI::App& command, std::span<char* const> words) {
  const std::vector<std::string> names = long_names(command);
  for (const std::string_view word : words) {
    if (word == "--") break;
    const std::string name(word.substr(0, word.find('=')));
    if (!name.starts_with("--") || std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::string meant = nearest(name.substr(2), [&] {
      std::vector<std::string> bare;
      for (const std::string& known : names) bare.push_back(known.substr(2));
      return bare;
    }());
    return fmt::format("\"{}\" has no option {}{}", full_name(command), name,
                       meant.empty() ? "" : fmt::format("; did you mean --{}?", meant));
  }
  return {};
}

}  // namespace

std::string usage_error_in_words(const CLI::App& app, const CLI::ParseError& error,
                                 std::span<char* const> words) {
  const CLI::App& command = innermost(app);
  std::string text;
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) text = unknown_option(command, words);
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) text = wrong_value(command, error.what());
  if (command.get_parent() == nullptr && command.get_subcommands().empty() && !words.empty())
    text = unknown_option(command, words);
  if (text.empty()) text = error.what();
  return fmt::format("{}\nTry: {} --help", text, full_name(command));
}

void check_command(const CLI::App& app, std::span<char* const> words) {
  if (words.empty() || words.front()[0] == '-') return;
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->check_name(words.front())) {
      if (command->get_require_subcommand_min() > 0) check_command(*command, words.subspan(1));
      return;
    }
    if (!command->get_group().empty()) commands.push_back(command->get_name());
  }
  const std::string of = app.get_parent() != nullptr ? app.get_name() + " " : "";
  const std::string meant = nearest(words.front(), commands);
  throw Error(ErrorCode::kBadInput,
              fmt::format("there is no command \"{}{}\"{}; commands: {}", of, words.front(),
                          meant.empty() ? "" : fmt::format("; did you mean \"{}{}\"?", of, meant),
                          fmt::join(commands, ", ")));
}

}  // namespace ddbench::cli
