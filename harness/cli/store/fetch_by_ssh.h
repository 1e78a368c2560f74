#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "harness/cli/store/collect_sources.h"

namespace ddbench::cli {

struct SshOptions {
  std::string ssh = "ssh";  ///< a command as a shell takes it, with options of its own: "ssh -p 2222"
  std::string remote_ddbench = "ddbench";     ///< a command as the other machine's shell takes it
  std::chrono::seconds timeout{3600};         ///< for one host
  std::uint64_t most_bytes = 32'000'000'000;  ///< of one host's new runs
};

/// Fetches the finished runs of a store on another machine that are not in the file `known` (an id on each
/// line) into the new file `into`: `ssh HOST ddbench db export - --finished --known -`. Nothing is asked on
/// the terminal: keys and host keys must be known to ssh. A leading "~/" of the store is that user's home. The file is what the other
/// machine sent, which may be damaged; it is empty if there was nothing new. Throws Error{kRunFailed} with what ssh or the other
/// ddbench reported last, when it ended with an error, took too long or sent too much; Error{kBadInput} with the first bytes of what
/// is no SQLite file; Error{kEnvironment} when there is no ssh.
void fetch_by_ssh(const HostSource& source, const SshOptions& options, const std::filesystem::path& known,
                  const std::filesystem::path& into);

}  // namespace ddbench::cli
