#include "harness/cli/help/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "core/error.h"
#include "harness/cli/help/command_tree.h"
#include "harness/cli/options/command.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/shared_options.h"

namespace ddbench::cli {
namespace {

/// Commands and options that may follow the command's name.
std::vector<std::string> words_after(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::App* below : listed_commands(command)) words.push_back(below->get_name());
  for (const CLI::Option* option : named_options(command)) {
    for (const std::string& word : spellings(*option)) {
      if (word.starts_with("--")) words.push_back(word);
    }
  }
  return words;
}

/// Words that positionals of the command accept.
std::vector<std::string> positional_words(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::Option* option : positionals(command)) {
    for (std::string& word : choices(*option)) words.push_back(std::move(word));
  }
  return words;
}

std::string first_sentence(std::string text) {
  text = text.substr(0, text.find_first_of("\n:;."));
  std::string safe;
  for (const char c : text) safe += c == '\'' ? "\u2019" : std::string(1, c);
  return safe;
}

// For bash, and for zsh, whose bashcompinit calls it: uses only features of both. The words so far identify
// the command; three tables list what may follow it.
constexpr const char* kFunction = R"bash(
_ddbench() {
  local word i command="" before="${COMP_WORDS[COMP_CWORD-1]}" current="${COMP_WORDS[COMP_CWORD]}" values=""
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="${COMP_WORDS[i]}"
    [ "$word" = "--" ] && return 0
    _ddbench_words "${command:+$command }$word" >/dev/null && command="${command:+$command }$word"
  done
  if values="$(_ddbench_values "$command $before")"; then
    [ -z "$values" ] && return 0
  elif [ "$before" = "=" ]; then
    return 0
  else
    values="$(_ddbench_words "$command")"
  fi
  COMPREPLY=($(compgen -W "$values" -- "$current"))
}
)bash";

/// The command's name behind "ddbench", empty for ddbench itself.
std::string path_of(const CLI::App& command) {
  const std::string name = full_name(command);
  const std::size_t blank = name.find(' ');
  return blank == std::string::npos ? "" : name.substr(blank + 1);
}

/// A case of a shell function that prints words.
std::string shell_case(const std::string& key, const std::vector<std::string>& words) {
  return fmt::format("    '{}') echo '{}' ;;\n", key, fmt::join(words, " "));
}

std::string bash_script(const CLI::App& root) {
  std::string words;
  std::string values;
  for (const CLI::App* command : command_tree(root)) {
    const std::string path = path_of(*command);
    std::vector<std::string> next = words_after(*command);
    for (std::string& word : positional_words(*command)) next.push_back(std::move(word));
    words += shell_case(path, next);
    for (const CLI::Option* option : named_options(*command)) {
      if (option->get_expected_max() == 0) continue;
      for (const std::string& word : spellings(*option))
        values += shell_case(path + " " + word, choices(*option));
    }
  }
  return fmt::format(
      "# Completion of ddbench for bash: source it, or install it as bash-completion/completions/ddbench.\n"
      "_ddbench_words() {{  # what may follow a command\n  case \"$1\" in\n{}    *) return 1 ;;\n  esac\n}}\n"
      "_ddbench_values() {{  # what an option accepts; nothing where it takes any value\n  case \"$1\" "
      "in\n{}    *) return 1 ;;\n"
      "  esac\n}}{}complete -o default -F _ddbench ddbench\n",
      words, values, kFunction);
}

std::string fish_script(const CLI::App& root) {
  std::string text = "# fish completion of ddbench: install it as completions/ddbench.fish.\n";
  const auto top = listed_commands(root);
  std::vector<std::string> names;
  for (const CLI::App* command : top) names.push_back(command->get_name());
  for (const CLI::App* command : command_tree(root)) {
    const std::string path = path_of(*command);
    std::string condition;
    if (path.empty()) {
      condition = fmt::format("not __fish_seen_subcommand_from {}", fmt::join(names, " "));
    } else {
      std::vector<std::string> conditions;
      for (const CLI::App* at = command; at->get_parent() != nullptr; at = at->get_parent())
        conditions.push_back("__fish_seen_subcommand_from " + at->get_name());
      condition = fmt::format("{}", fmt::join(conditions.rbegin(), conditions.rend(), "; and "));
    }
    for (const CLI::App* below : listed_commands(*command))
      text += fmt::format("complete -c ddbench -f -n '{}' -a {} -d '{}'\n", condition, below->get_name(),
                          first_sentence(below->get_description()));
    for (const std::string& word : positional_words(*command))
      text += fmt::format("complete -c ddbench -n '{}' -a {}\n", condition, word);
    for (const CLI::Option* option : named_options(*command)) {
      text += fmt::format("complete -c ddbench -n '{}'", condition);
      for (const std::string& name : option->get_lnames()) text += " -l " + name;
      for (const std::string& name : option->get_snames()) text += " -s " + name;
      if (option->get_expected_max() != 0) text += " -r";
      if (const auto accepted = choices(*option); !accepted.empty())
        text += fmt::format(" -f -a '{}'", fmt::join(accepted, " "));
      text += fmt::format(" -d '{}'\n", first_sentence(option->get_description()));
    }
  }
  return text;
}

/// zsh runs bash's function: one to keep right. As a file of fpath it is read when it is first needed.
std::string zsh_script(const CLI::App& root) {
  return "#compdef ddbench\nautoload -Uz bashcompinit && bashcompinit\n" + bash_script(root) +
         "[ \"${funcstack[1]-}\" = \"_ddbench\" ] && _bash_complete -o default -F _ddbench\n";
}

}  // namespace

std::string completion_script(const CLI::App& root, Shell shell) {
  switch (shell) {
    case Shell::kBash: return bash_script(root);
    case Shell::kZsh: return zsh_script(root);
    case Shell::kFish: return fish_script(root);
  }
  return {};
}

void add_completion_command(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("completion", "Print a script that completes ddbench's command line in your shell");
  const auto shell = std::make_shared<std::string>();
  const std::map<std::string, Shell> shells{
      {"bash", Shell::kBash}, {"fish", Shell::kFish}, {"zsh", Shell::kZsh}};
  command->add_option("shell", *shell, "bash, fish or zsh")
      ->required()
      ->check(CLI::IsMember({"bash", "fish", "zsh"}));
  add_examples(*command, {{"completion bash", "for `source <(ddbench completion bash)` in ~/.bashrc"},
                          {"completion fish", "for ~/.config/fish/completions/ddbench.fish"}});
  command->callback([&action, &app, shell, shells] {
    action = [&app, shell, shells] {
      print(completion_script(app, shells.at(*shell)));
      return 0;
    };
  });
}

}  // namespace ddbench::cli
