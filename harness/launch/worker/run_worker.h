#pragma once

namespace ddbench::launch {

/// The body of `ddbench worker`: speaks to the launcher over the inherited control socket, builds recorder
/// and communicator, trains, reports. Returns the exit code.
int run_worker(int control_fd);

}  // namespace ddbench::launch
