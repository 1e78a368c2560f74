#pragma once

#include <string>
#include <vector>

#include "harness/cli/options/command.h"

namespace ddbench::cli {

/// What `ddbench import auto` passes on to the format that it found.
struct ImportRequest {
  std::vector<std::string> paths;
  std::string db;
  bool json = false;
};

// Formats of `ddbench import` that hold what happened when. Each adds itself to `import`.
void add_import_kineto(CLI::App& import, Action& action);
void add_import_nsys(CLI::App& import, Action& action);
void add_import_horovod(CLI::App& import, Action& action);
void add_import_flight_recorder(CLI::App& import, Action& action);

// With the format's defaults; they return the exit code.
int import_kineto(const ImportRequest& request);
int import_nsys(const ImportRequest& request);
int import_horovod(const ImportRequest& request);
int import_flight_recorder(const ImportRequest& request);

}  // namespace ddbench::cli
