#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analyzer/import/imported_run.h"

namespace ddbench::cli {

/// Where runs that are imported go, and how that is told.
struct ShownImport {
  std::string file;  ///< as the user gave it; "-": standard input
  std::string db;
  bool json = false;
};

/// The content of the file, or of standard input.
std::string content_of(const ShownImport& options);
/// Prints what was stored; returns the exit code.
int tell(const ShownImport& options, const imports::ImportResult& result);
/// imports::import_runs with a progress line on standard error, then tell().
int store_runs(const ShownImport& options, const imports::RunSource& runs, const std::string& content);

/// Imports one file, telling `progress` how far it is.
using ImportFile = std::function<imports::ImportResult(const std::string& file, const imports::ImportProgress& progress)>;
/// Imports each file by itself: what is wrong with one is told, and the others are stored. Of a single one, as store_runs.
int import_each(ShownImport options, const std::vector<std::string>& files, const ImportFile& import);

}  // namespace ddbench::cli
