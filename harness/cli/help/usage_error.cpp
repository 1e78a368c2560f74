#include "harness/cli/help/usage_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text/nearest.h"
#include "core/text/number.h"
#include "core/text/shell_words.h"
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

std::string in_capitals(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// "ddbench baseline set NAME REF".
std::string with_positionals(const CLI::App& command) {
  std::string text = full_name(command);
  for (const CLI::Option* option : positionals(command)) text += " " + in_capitals(option->get_name(true));
  return text;
}

/// The words that a command line lacks: positionals, or a command below `command`.
std::string missing_words(const CLI::App& command) {
  if (command.get_require_subcommand_min() > 0) {
    std::vector<std::string> names;
    for (const CLI::App* below : listed_commands(command)) names.push_back(below->get_name());
    return fmt::format("\"{}\" needs a command: {}", full_name(command), fmt::join(names, ", "));
  }
  for (const CLI::Option* option : positionals(command)) {
    if (option->get_required() && option->count() == 0)
      return fmt::format("missing {}: {}", in_capitals(option->get_name(true)), with_positionals(command));
  }
  for (const CLI::Option* option : named_options(command)) {
    if (option->get_required() && option->count() == 0) return fmt::format("missing {}", option->get_name());
  }
  return {};
}

/// An option whose name stands at the begin of CLI11's message, as the message names it; null where none does.
const CLI::Option* named_at_begin(const CLI::App& command, std::string_view message) {
  const std::string name(message.substr(0, message.find_first_of(": ")));
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_name() == name || option->check_name(name)) return option;
  }
  return nullptr;
}

/// As a reader writes it: positionals in capitals.
std::string shown_name(const CLI::Option& option) {
  return option.nonpositional() ? option.get_name() : in_capitals(option.get_name(true));
}

std::string value_count(const CLI::Option& option) {
  const int wanted = option.get_items_expected_min();
  return fmt::format("{} needs {}", shown_name(option), wanted > 1 ? fmt::format("{} values", wanted) : "a value");
}

std::string range_in_words(double low, double high) {
  constexpr double kUnbounded = 1e18;
  if (high > kUnbounded || high == std::numeric_limits<int>::max()) return fmt::format("{:g} or more", low);
  return fmt::format("from {:.15g} to {:.15g}", low, high);
}

/// A value that is of the right type, but not one that the option takes.
std::string refused_value(const CLI::App& command, std::string_view message) {
  const CLI::Option* option = named_at_begin(command, message);
  if (option == nullptr || option->results().empty()) return {};
  const std::string got = option->results().back();
  const std::vector<std::string> allowed = choices(*option);
  if (message.find(" not in {") != std::string_view::npos && !allowed.empty()) {
    const std::string meant = nearest(got, allowed);
    return fmt::format("{} is \"{}\", but it must be one of {}{}", shown_name(*option), got, fmt::join(allowed, ", "),
                       meant.empty() ? "" : fmt::format("; did you mean {}?", meant));
  }
  const std::size_t range = message.find(" not in range ");
  double low = 0;
  double high = 0;
  if (range == std::string_view::npos) return {};
  if (!number_from<double>(got)) return fmt::format("{} expects a number, got \"{}\"", shown_name(*option), got);
  if (option->get_type_name().find("POSITIVE") != std::string::npos)
    return fmt::format("{} is {}, but it must be positive", shown_name(*option), got);
  const std::string bounds(message.substr(range));  // "[1 - 5]" since CLI11 2.3
  if (std::sscanf(bounds.c_str(), " not in range %lf to %lf", &low, &high) != 2 &&
      std::sscanf(bounds.c_str(), " not in range [%lf - %lf]", &low, &high) != 2)
    return {};
  return fmt::format("{} is {}, but it must be {}", shown_name(*option), got, range_in_words(low, high));
}

/// Two options of which one excludes or needs the other.
std::string conflict(std::string_view message) {
  for (const auto& [word, text] : {std::pair(" excludes ", "{} cannot be combined with {}"), std::pair(" requires ", "{} needs {}")}) {
    const std::size_t at = message.find(word);
    if (at == std::string_view::npos) continue;
    return fmt::format(fmt::runtime(text), message.substr(0, at), message.substr(at + std::string_view(word).size()));
  }
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
    if (is_number) return fmt::format("{} {} is too large a number", name, got);
    const std::size_t unit = got.find_first_not_of("+-.0123456789");
    const bool has_unit = unit != 0 && unit != std::string::npos && got.find_first_of("+-.0123456789", unit) == std::string::npos;
    return fmt::format("{} expects {}{}, got \"{}\"", name, kind, has_unit ? " without a unit" : "", got);
  }
  return {};
}

/// The first word of the command line that looks like an option and is none of the command. A value that an option took may look like
/// one, as in --run '--gpus 4': only `left` were not taken.
std::string unknown_option(const CLI::App& command, std::span<char* const> words, const std::vector<std::string>& left) {
  const std::vector<std::string> names = long_names(command);
  for (const std::string_view word : words) {
    if (word == "--") break;
    if (std::find(left.begin(), left.end(), word) == left.end()) continue;
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

/// A word that no positional takes.
std::string surplus_word(const CLI::App& command) {
  const std::vector<std::string> words = command.remaining();
  if (words.empty()) return {};
  const bool takes_some = !positionals(command).empty();
  return fmt::format("\"{}\" does not take \"{}\"{}", full_name(command), words.front(),
                     takes_some ? fmt::format("; it takes: {}", with_positionals(command)) : "");
}

}  // namespace

std::string usage_error_in_words(const CLI::App& app, const CLI::ParseError& error,
                                 std::span<char* const> words) {
  const CLI::App& command = innermost(app);
  const std::vector<std::string> left = app.remaining(true);
  std::string text;
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) text = unknown_option(command, words, left);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && text.empty()) text = surplus_word(command);
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) text = wrong_value(command, error.what());
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) text = missing_words(command);
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) text = refused_value(command, error.what());
  if (const auto* mismatch = dynamic_cast<const CLI::ArgumentMismatch*>(&error)) {
    const CLI::Option* option = named_at_begin(command, mismatch->what());
    if (option != nullptr && option->results().size() < 2) text = value_count(*option);
  }
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr || dynamic_cast<const CLI::RequiresError*>(&error) != nullptr)
    text = conflict(error.what());
  if (command.get_parent() == nullptr && command.get_subcommands().empty() && !words.empty())
    text = unknown_option(command, words, left);
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
  std::error_code error;
  if (std::find(commands.begin(), commands.end(), "auto") != commands.end() && std::filesystem::exists(words.front(), error)) {
    throw Error(ErrorCode::kBadInput, fmt::format("\"{}\" is no format: `ddbench {}auto {}` recognises it by the content", words.front(),
                                                  of, shell_words({words.front()})));
  }
  const std::string meant = nearest(words.front(), commands);
  throw Error(ErrorCode::kBadInput,
              fmt::format("there is no command \"{}{}\"{}; commands: {}", of, words.front(),
                          meant.empty() ? "" : fmt::format("; did you mean \"{}{}\"?", of, meant),
                          fmt::join(commands, ", ")));
}

}  // namespace ddbench::cli
