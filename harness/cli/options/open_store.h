#pragma once

#include <string>

#include "analyzer/store/rows/run_store.h"

namespace ddbench::cli {

/// The store of `--db`, else the default one, as RunStore::open. A run in it that is left out because its row
/// is damaged is named on standard error, with the reason.
store::RunStore open_store(const std::string& db_option, store::OpenMode mode);

/// The same for reading.
store::RunStore open_store(const std::string& db_option);

/// Names unreadable runs from here on.
void report_unreadable_runs(store::RunStore& store);

}  // namespace ddbench::cli
