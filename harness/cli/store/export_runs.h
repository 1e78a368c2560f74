#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "analyzer/store/maintenance/maintenance.h"
#include "harness/cli/options/run_selection.h"

namespace ddbench::cli {

struct ExportOptions {
  RunSelection selection;
  std::string target;      ///< a store; "-": standard output
  bool finished = false;   ///< leave out runs that are running
  std::string known_file;  ///< leave out the runs whose ids are its lines; "-": standard input
  bool json = false;
};

/// The ids of the readable runs of `store` that are chosen, neither in `known` nor, with `finished`, running.
std::vector<store::RunId> runs_to_export(const store::RunStore& store, const RunSelection& selection,
                                         bool finished, const std::set<store::RunId>& known);

/// `ddbench db export`. To standard output it writes a store, or nothing if there is no run to export. Throws
/// Error{kBadInput} if that is a terminal.
int export_runs(const ExportOptions& options);

/// What merging or exporting did, as text or JSON.
void print_merge(bool json, const store::MergeResult& result, const std::filesystem::path& target);

}  // namespace ddbench::cli
