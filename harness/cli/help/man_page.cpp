#include "harness/cli/help/man_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "core/error.h"
#include "harness/cli/help/command_tree.h"
#include "harness/cli/options/command.h"

namespace ddbench::cli {
namespace {

/// Text for man(7), escaped so that no character is markup.
std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else {
      safe += c;
    }
  }
  if (safe.starts_with('.') || safe.starts_with('\'')) safe.insert(0, "\\&");
  return safe;
}

/// Lines as they are, for examples and tables.
std::string verbatim(const std::string& text) {
  std::string lines = ".nf\n";
  std::istringstream input(text);
  for (std::string line; std::getline(input, line);) lines += escaped(line) + "\n";
  return lines + ".fi\n";
}

/// Its type without the accepted values, which are in braces.
std::string type_of(const CLI::Option& option) {
  if (option.get_expected_max() == 0) return {};
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

std::string synopsis(const CLI::App& command) {
  std::string text = ".B " + escaped(full_name(command)) + "\n";
  if (!named_options(command).empty()) text += "[\\fIOPTIONS\\fR]\n";
  if (!listed_commands(command).empty()) text += "\\fICOMMAND\\fR\n";
  for (const CLI::Option* option : positionals(command)) {
    const std::string name = fmt::format("\\fI{}\\fR{}", escaped(option->get_name(true)),
                                         option->get_expected_max() > 1 ? " ..." : "");
    text += (option->get_required() ? name : "[" + name + "]") + "\n";
  }
  return text;
}

std::string option_entry(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& word : spellings(option)) names.push_back("\\fB" + escaped(word) + "\\fR");
  if (names.empty()) names.push_back("\\fI" + escaped(option.get_name(true)) + "\\fR");
  const std::string type = type_of(option);
  std::string text =
      fmt::format(".TP\n{}{}\n{}\n", fmt::join(names, ", "),
                  type.empty() || names.front().starts_with("\\fI") ? "" : " \\fI" + escaped(type) + "\\fR",
                  escaped(option.get_description()));
  if (const auto accepted = choices(option); !accepted.empty())
    text += escaped(fmt::format("One of: {}.", fmt::join(accepted, ", "))) + "\n";
  if (!option.get_default_str().empty()) text += escaped("Default: " + option.get_default_str() + ".") + "\n";
  return text;
}

std::string section(const char* title, const std::string& body) {
  return body.empty() ? "" : fmt::format(".SH {}\n{}", title, body);
}

}  // namespace

std::string man_page_name(const CLI::App& command) {
  std::string name = full_name(command);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string man_page(const CLI::App& command) {
  const std::string name = man_page_name(command);
  std::string arguments;
  for (const CLI::Option* option : positionals(command)) arguments += option_entry(*option);
  std::string options;
  for (const CLI::Option* option : named_options(command)) options += option_entry(*option);
  std::string commands;
  std::vector<std::string> others;
  for (const CLI::App* below : listed_commands(command)) {
    commands +=
        fmt::format(".TP\n\\fB{}\\fR\n{}\n", escaped(below->get_name()), escaped(below->get_description()));
    others.push_back(fmt::format(".BR {} (1)", escaped(man_page_name(*below))));
  }
  if (command.get_parent() != nullptr)
    others.push_back(fmt::format(".BR {} (1)", escaped(man_page_name(*command.get_parent()))));
  // No date: a page is the same in every build.
  return fmt::format(".TH {} 1 \"\" \"ddbench {}\" \"ddbench\"\n", escaped(name), DDBENCH_VERSION) +
         section("NAME", fmt::format("{} \\- {}\n", escaped(name), escaped(command.get_description()))) +
         section("SYNOPSIS", synopsis(command)) + section("COMMANDS", commands) +
         section("ARGUMENTS", arguments) + section("OPTIONS", options) +
         section("NOTES", command.get_footer().empty() ? "" : verbatim(command.get_footer())) +
         section("SEE ALSO", others.empty() ? "" : fmt::format("{}\n", fmt::join(others, ",\n")));
}

void add_man_command(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("man", "Write the manual pages of all commands into a folder")->group("");
  const auto folder = std::make_shared<std::string>();
  command->add_option("folder", *folder, "where to; made if missing")->required();
  command->callback([&action, &app, folder] {
    action = [&app, folder] {
      std::error_code error;
      std::filesystem::create_directories(*folder, error);
      for (const CLI::App* page : command_tree(app)) {
        const std::filesystem::path file = std::filesystem::path(*folder) / (man_page_name(*page) + ".1");
        std::ofstream out(file);
        out << man_page(*page) << std::flush;
        if (!out) throw Error(ErrorCode::kBadInput, "cannot write " + file.string());
      }
      return 0;
    };
  });
}

}  // namespace ddbench::cli
