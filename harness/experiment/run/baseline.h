#pragma once

#include <optional>
#include <string>

#include "analyzer/store/rows/run_store.h"

namespace ddbench::experiment {

/// The newest finished, valid run of `baseline` (a case on one GPU) on a machine of this fingerprint, or,
/// `elsewhere`, with ranks elsewhere and launched from one; none if the store holds no comparable one. Of a program, the newest
/// whose files are here as they were, else the newest: files_changed_since() decides which.
std::optional<store::RunRecord> find_baseline(const store::RunStore& store, const RunCase& baseline,
                                              const std::string& fingerprint, bool elsewhere);

}  // namespace ddbench::experiment
