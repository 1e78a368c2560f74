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
  bool finished = false;   ///< leave out runs that are running or being analyzed
  std::string known_file;  ///< leave out the runs whose ids are its lines; "-": standard input
  bool json = false;
};

struct RunsToExport {
  std::vector<store::RunId> ids;
  bool all_are_finished = true;  ///< false: some were left out because they are not
};

/// The readable runs of `store` that are chosen and not in `known`; with `finished`, without those that are running, or that a
/// ddbench of this machine may still be analyzing.
RunsToExport runs_to_export(const store::RunStore& store, const RunSelection& selection, bool finished,
                            const std::set<store::RunId>& known);

/// `ddbench db export`. To standard output it writes a store, or nothing if there is no run to export. Throws
/// Error{kBadInput} if that is a terminal.
int export_runs(const ExportOptions& options);

/// What merging or exporting did, as text or JSON.
void print_merge(bool json, const store::MergeResult& result, const std::filesystem::path& target);

}  // namespace ddbench::cli
