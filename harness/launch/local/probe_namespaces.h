#pragma once

#include "core/measured.h"

namespace ddbench::launch {

/// Tests whether the network of a run can be created: two nodes in namespaces, joined by a bridge, with
/// shaped links. True: allowed, but only inside a user namespace. Missing, with what was refused or is not
/// installed: nodes will share plain loopback. Takes some tens of milliseconds and leaves nothing behind.
Measured<bool> probe_namespaces();

}  // namespace ddbench::launch
