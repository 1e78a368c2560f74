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
  /// What its command line says, where it must not do anything else (require_own); null: it does what the
  /// launcher says.
  const OwnCommand* own = nullptr;
};

/// A rank's life from its hello to its end; what goes wrong is reported to the launcher. `remote`: null for a
/// rank with an inherited socket. Returns the exit code.
int work(WorkerSession& session, TrainingState& state, const Hello& hello, const RemoteRank* remote);

}  // namespace ddbench::launch
