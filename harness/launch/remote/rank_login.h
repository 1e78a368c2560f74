#pragma once

#include <chrono>
#include <string>

#include "core/unique_handle.h"
#include "harness/launch/control/tcp.h"
#include "harness/launch/trust/handshake.h"

namespace ddbench::launch {

/// A rank's connection to its launcher after the handshake.
struct LauncherConnection {
  UniqueFd socket;
  SessionKeys keys;
};

/// Connects to the launcher, which may start later, and proves to each other that both know `token` (empty:
/// proves nothing, as handshake.h says). Blocks for `timeout` at most. Throws Error{kEnvironment} when nobody
/// answers, and Error{kRunFailed} that names the address and says why when the launcher turns this rank away
/// or is none.
LauncherConnection log_in(const Endpoint& launcher, const std::string& token,
                          const Introduction& introduction, std::chrono::milliseconds timeout);

}  // namespace ddbench::launch
