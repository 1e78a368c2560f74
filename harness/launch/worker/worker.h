#pragma once

#include <chrono>

#include "harness/launch/control/messages.h"
#include "harness/launch/control/tcp.h"
#include "harness/launch/start/placement.h"
#include "harness/launch/transfer/shipped_files.h"
#include "harness/launch/worker/own_command.h"
#include "harness/launch/worker/training_state.h"
#include "harness/launch/worker/worker_session.h"

namespace ddbench::launch {

/// How long a rank waits for an answer of the launcher.
inline constexpr std::chrono::seconds kLauncherAnswersIn{120};

/// A rank that has no directory in common with its launcher.
struct RemoteRank {
  ShippedFiles& files;  ///< where it writes
  Placement placement;  ///< as which it was started
  Endpoint launcher;
  /// The content of its command line, which the launcher's assignment must agree with; null: the launcher started this process.
  const OwnCommand* own = nullptr;
  bool launcher_is_proved = true;  ///< by the job's secret; else the rank does only what its command line says (require_own)
};

/// A rank's life from its hello to its end; errors are reported to the launcher. `remote`: null for a rank
/// with an inherited socket. Returns the exit code: 1 for one that failed, whose launcher says why; but where the launcher is
/// elsewhere, and nobody else may read its exit code, that of the error, or the launcher's own where it ended this rank.
int work(WorkerSession& session, TrainingState& state, const Hello& hello, const RemoteRank* remote);

}  // namespace ddbench::launch
