#pragma once

#include "core/measured.h"

namespace ddbench::launch {

/// Tries what the network of a run needs: two nodes in namespaces, joined by a bridge, with shaped links.
/// True: allowed, but only inside a user namespace. Missing, with what was refused or is not installed, where
/// nodes will share plain loopback. Takes some tens of milliseconds and leaves nothing behind.
Measured<bool> probe_namespaces();

}  // namespace ddbench::launch
