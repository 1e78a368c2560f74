#pragma once

#include "analyzer/store/rows/run_store.h"

namespace ddbench::analyzer {

/// finalize_run of a run of `ddbench micro`: its collectives as rows (of each size MicroRow::usual()), and
/// invalid with the reason when a result was wrong or nothing was measured.
void finalize_micro_run(store::RunStore& store, store::RunRecord run);

}  // namespace ddbench::analyzer
