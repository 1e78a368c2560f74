#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace ddbench::cli {

// Options that several subcommands have: one name, one meaning, one help text.

/// --db: the store. Empty means the default one (store_path).
CLI::Option* add_db_option(CLI::App& command, std::string& db);
/// --json. `schemas`: files in reports/schema that describe the output; empty if there are none.
CLI::Option* add_json_option(CLI::App& command, bool& json, std::string_view schemas = {});
/// --quiet: no progress line.
CLI::Option* add_quiet_option(CLI::App& command, bool& quiet);
/// --skus: the user's own catalogue.
CLI::Option* add_skus_option(CLI::App& command, std::string& skus);

/// An enumeration of a case (choice_from), by its texts. The value that `value` has is the default that help shows.
template <typename Enum>
CLI::Option* add_choice(CLI::App& command, const std::string& name, Enum& value, const std::string& meaning);

struct Example {
  std::string_view arguments;  ///< behind "ddbench"
  std::string_view meaning;
};

/// Ends the help of a subcommand with examples, then `more` as a paragraph of its own.
void add_examples(CLI::App& command, std::initializer_list<Example> examples, std::string_view more = {});

}  // namespace ddbench::cli
