#pragma once

#include "harness/cli/data/import_traces.h"

namespace ddbench::cli {

// Formats of `ddbench import` that hold figures of steps or collectives. Each adds itself to `import`.
void add_import_log(CLI::App& import, Action& action);
void add_import_mlperf(CLI::App& import, Action& action);
void add_import_nccl_inspector(CLI::App& import, Action& action);
void add_import_nccl_ras(CLI::App& import, Action& action);

// With defaults, for `import auto`; they return the exit code.
int import_log(const ImportRequest& request);
int import_mlperf(const ImportRequest& request);
int import_nccl_inspector(const ImportRequest& request);
int import_nccl_ras(const ImportRequest& request);

}  // namespace ddbench::cli
