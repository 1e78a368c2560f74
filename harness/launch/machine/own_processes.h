#pragma once

namespace ddbench::launch {

/// In the launcher's PID namespace /proc shows the machine's processes, under other numbers than their own. CUDA does not start there, and
/// libraries that open the files of a neighbour (UCX's shared memory, under MPICH) fail: gives the calling thread, and those that it
/// starts, a /proc of the namespace, where the kernel allows it. Nothing happens elsewhere. Whether /proc shows this process as itself.
bool show_own_processes();

}  // namespace ddbench::launch
