#pragma once

#include "analyzer/store/rows/run_store.h"

namespace ddbench::analyzer {

/// finalize_run for a run of `ddbench micro`: stores its collectives as rows (MicroRow::usual() of each
/// size), and marks the run invalid with the reason when a result was wrong or nothing was measured.
void finalize_micro_run(store::RunStore& store, store::RunRecord run);

}  // namespace ddbench::analyzer
