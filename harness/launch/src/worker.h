#pragma once

#include "messages.h"
#include "shipped_files.h"
#include "training_state.h"
#include "worker_session.h"

namespace ddbench::launch {

/// A rank's life from its hello to its end; what goes wrong is said to the launcher. `files`: where it
/// writes, when it has no directory in common with the launcher; else null. Returns the exit code.
int work(WorkerSession& session, TrainingState& state, const Hello& hello, ShippedFiles* files);

}  // namespace ddbench::launch
