#pragma once

#include <string>

namespace CLI {
class App;
}

namespace ddbench::cli {

/// "ddbench-db-merge": the name of the command's page and, with ".1", of its file.
std::string man_page_name(const CLI::App& command);

/// The manual page (section 1) of a command, in man(7) macros, from its --help.
std::string man_page(const CLI::App& command);

}  // namespace ddbench::cli
