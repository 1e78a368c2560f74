#pragma once

#include "core/unique_handle.h"

/// Anonymous namespaces: they have no name in the host and end with the last process (or descriptor) that
/// holds them. Every function throws Error{kEnvironment} naming the operation that the kernel refused.
namespace ddbench::launch {

/// Gives the calling process its own network namespace, if asked, and its next child a pid namespace, in which
/// that child is the init whose death kills everything. Where the caller may not, inside a new user namespace,
/// as whose root it goes on; but not for a pid namespace alone: in a user namespace files of others are nobody's,
/// so that ssh and sudo do not work. Single-threaded callers only. True when a user namespace was needed.
bool enter_own_namespaces(bool with_network);

/// Brings `lo` of the current network namespace up.
void bring_loopback_up();

/// The current network namespace.
UniqueFd current_network_namespace();

/// Makes a network namespace and returns to the current one.
UniqueFd make_network_namespace();

}  // namespace ddbench::launch
