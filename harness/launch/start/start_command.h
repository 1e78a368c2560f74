#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace ddbench::launch {

struct StartedCommand {
  pid_t pid = -1;  ///< of a child that the caller waits for; -1 when it could not be executed
  int error = 0;   ///< errno of that
};

/// Starts `command` (looked up in PATH) in a process group of its own, with default signals. `prepare` runs
/// in the child before: environment, descriptors, what happens when its parent dies. Throws
/// Error{kEnvironment} when no process can be made.
StartedCommand start_command(const std::vector<std::string>& command, const std::function<void()>& prepare);

}  // namespace ddbench::launch
