#include "harness/cli/help/command_tree.h"

#include <CLI/CLI.hpp>
#include <sstream>

namespace ddbench::cli {

std::string full_name(const CLI::App& command) {
  return command.get_parent() == nullptr ? command.get_name()
                                         : full_name(*command.get_parent()) + " " + command.get_name();
}

std::vector<const CLI::App*> listed_commands(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* other) { return !other->get_group().empty(); });
}

std::vector<const CLI::App*> command_tree(const CLI::App& root) {
  std::vector<const CLI::App*> tree{&root};
  for (const CLI::App* command : listed_commands(root)) {
    const auto below = command_tree(*command);
    tree.insert(tree.end(), below.begin(), below.end());
  }
  return tree;
}

std::vector<const CLI::Option*> named_options(const CLI::App& command) {
  return command.get_options(
      [](const CLI::Option* option) { return option->nonpositional() && !option->get_group().empty(); });
}

std::vector<const CLI::Option*> positionals(const CLI::App& command) {
  return command.get_options(
      [](const CLI::Option* option) { return option->get_positional() && !option->get_group().empty(); });
}

std::vector<std::string> spellings(const CLI::Option& option) {
  std::vector<std::string> words;
  for (const std::string& name : option.get_lnames()) words.push_back("--" + name);
  for (const std::string& name : option.get_snames()) words.push_back("-" + name);
  return words;
}

std::vector<std::string> choices(const CLI::Option& option) {
  for (const std::string& text : {option.get_type_name(), option.get_description()}) {
    const std::size_t open = text.find('{');
    const std::size_t close = text.find('}', open);
    if (open == std::string::npos || close == std::string::npos) continue;
    std::vector<std::string> words;
    std::istringstream list(text.substr(open + 1, close - open - 1));
    for (std::string word; std::getline(list, word, ',');) words.push_back(word.substr(0, word.find("->")));
    return words;
  }
  return {};
}

}  // namespace ddbench::cli
