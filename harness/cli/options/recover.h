#pragma once

#include <string>

#include "analyzer/store/rows/run_store.h"

namespace ddbench::cli {

/// Before a command writes to the store: completes the runs that a killed ddbench or a full disk left
/// (recover_runs), and names them on standard error.
void recover_runs(store::RunStore& store);

/// The same for one run that somebody wants to see; nothing happens when it is complete. True when it was
/// changed. A store that takes nothing is no error here: the run is shown as it is.
bool recover_run_to_show(const std::string& db_option, const store::RunRecord& run);

struct RecoverOptions {
  std::string run;  ///< an id or a part of one; empty: all
  std::string db;
  bool force = false;  ///< take_over: whatever its owner does
  bool json = false;
};

/// `ddbench db recover`. Exit code 1 when something could not be recovered.
int recover(const RecoverOptions& options);

}  // namespace ddbench::cli
