#pragma once

#include <signal.h>

#include "harness/launch/local/fabric.h"

namespace ddbench::launch {

/// Requests the first process to end everything.
inline constexpr int kEndSignal = SIGUSR1;

/// Body of the first process of a Fabric, in the child of a fork by `launcher`, to which `socket` leads.
[[noreturn]] void run_outer_process(const FabricPlan& plan, Isolation isolation, int socket,
                                    pid_t launcher) noexcept;

}  // namespace ddbench::launch
