#pragma once

#include "core/run_case/records.h"

namespace ddbench::store {

/// For a run that is_abandoned(): state `interrupted` and the reason. Changes nothing for any other run.
/// Readers that may not write show the run so; the next writer stores it.
void close_abandoned(RunRecord& run);

}  // namespace ddbench::store
