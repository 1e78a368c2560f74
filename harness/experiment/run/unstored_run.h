#pragma once

#include "analyzer/store/rows/run_store.h"
#include "core/error.h"
#include "core/files/temporary_directory.h"
#include "harness/experiment/ingest/kept_run.h"

namespace ddbench::experiment {

/// For a run whose results could not be stored, or that could not be started: marks it failed in the store where that still
/// works, and keeps `directory` with its spools where there are any. Returns the error for the user: `error`, and where the
/// measurements are kept and which command completes the run.
Error keep_unstored_run(store::RunStore& store, TemporaryDirectory& directory, KeptRun kept, const Error& error);

}  // namespace ddbench::experiment
