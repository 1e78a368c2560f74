#pragma once

#include "harness/cli/options/command.h"

namespace ddbench::cli {

// Formats of `ddbench import` that hold what happened when. Each adds itself to `import`.
void add_import_kineto(CLI::App& import, Action& action);

}  // namespace ddbench::cli
