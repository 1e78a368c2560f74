#pragma once

#include "harness/launch/local/fabric.h"

namespace ddbench::launch {

/// Body of the second process of a Fabric: init of its pid namespace (unless isolation is kNone) and parent
/// of the ranks.
[[noreturn]] void run_init_process(const FabricPlan& plan, Isolation isolation, bool user_namespace,
                                   int socket) noexcept;

}  // namespace ddbench::launch
