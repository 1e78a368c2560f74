#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analyzer/import/imported_run.h"

namespace ddbench::cli {

/// Where imported runs are stored, and how the import is reported.
struct ShownImport {
  std::string file;  ///< as the user gave it; "-": standard input
  std::string db;
  bool json = false;
};

/// The content of the file, or of standard input.
std::string content_of(const ShownImport& options);
/// Prints what was stored; returns the exit code.
int print_import(const ShownImport& options, const imports::ImportResult& result);
/// imports::import_runs with a progress line on standard error, then print_import().
int store_runs(const ShownImport& options, const imports::RunSource& runs, const std::string& content);

/// Imports one file and reports its progress to `progress`.
using ImportFile = std::function<imports::ImportResult(const std::string& file, const imports::ImportProgress& progress)>;
/// Imports each file separately: an error in one is reported, and the others are stored. For a single file as
/// store_runs.
int import_each(ShownImport options, const std::vector<std::string>& files, const ImportFile& import);

}  // namespace ddbench::cli
