#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/store/rows/run_store.h"

namespace CLI {
class App;
}

namespace ddbench::cli {

/// Which stored runs a subcommand looks at: of a sweep, or those that conditions hold for, or both.
struct RunSelection {
  std::string db;
  std::string sweep;               ///< an id or a part of one
  std::vector<std::string> where;  ///< "field=value[,field=value...]", all must hold

  bool is_empty() const noexcept { return sweep.empty() && where.empty(); }
};

/// --db, --sweep and --where.
void add_selection_options(CLI::App& app, RunSelection& selection);

/// The whole id of a sweep; of the newest for "last-sweep". Throws Error{kBadInput} where no sweep, or more than one, has such an id.
std::string sweep_with(const store::RunStore& store, const std::string& id_or_part);

/// Oldest first. Throws Error{kBadInput} stating the existing values when nothing matches.
std::vector<store::RunRecord> select_runs(const store::RunStore& store, const RunSelection& selection);

/// The same; without a selection the runs of the newest sweep that suits, else of the newest one. Without `suits` each does.
/// Throws Error{kBadInput} when there is none.
std::vector<store::RunRecord> select_runs_or_newest_sweep(const store::RunStore& store, const RunSelection& selection,
                                                          const std::function<bool(std::span<const store::RunRecord>)>& suits = {});

}  // namespace ddbench::cli
