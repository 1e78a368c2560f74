#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace ddbench::cli {

/// "ddbench db merge".
std::string full_name(const CLI::App& command);

/// The subcommands that --help lists, in its order; not those that ddbench calls itself.
std::vector<const CLI::App*> listed_commands(const CLI::App& command);

/// The command and all below it that --help lists, parents first.
std::vector<const CLI::App*> command_tree(const CLI::App& root);

/// What --help lists of a command: its options with a name, and its positionals.
std::vector<const CLI::Option*> named_options(const CLI::App& command);
std::vector<const CLI::Option*> positionals(const CLI::App& command);

/// "--nodes", "-h"; as on the command line.
std::vector<std::string> spellings(const CLI::Option& option);

/// The words that the option's description gives in braces ("{ddp,zero1}"), or none.
std::vector<std::string> choices(const CLI::Option& option);

}  // namespace ddbench::cli
