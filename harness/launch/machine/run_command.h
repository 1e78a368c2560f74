#pragma once

#include <string>
#include <vector>

namespace ddbench::launch {

/// One call of a system tool (`ip`, `tc`), found on the PATH or in the sbin directories.
struct ToolCall {
  std::vector<std::string> arguments;  ///< the tool's name first
  std::string input;                   ///< its standard input
  int network_namespace = -1;          ///< file descriptor of the namespace to run it in; -1: this one
  std::vector<int> inherited;          ///< file descriptors that the tool may use
};

/// Runs the tool and returns its output. Throws Error{kEnvironment} with its last output when it fails or is
/// missing.
std::string run_tool(const ToolCall& call);

}  // namespace ddbench::launch
