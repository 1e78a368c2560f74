#pragma once

#include <sys/types.h>

#include <atomic>
#include <string>
#include <vector>

namespace ddbench::launch {

/// A rank's program, which ddbench did not write. NCCL logs in it how ranks reach each other, beside the
/// spools (collective::NcclTransports), unless the user directs that log. It runs in a process group of its
/// own, with the standard output and error of this process, and dies with this process.
class Program {
 public:
  struct Options {
    std::vector<std::string> command;
    /// Shared object that records it, put before what LD_PRELOAD holds already. LD_PRELOAD cannot hold a path
    /// with a blank or colon: then through a link beside the spools.
    std::string preload;
    std::string spool;  ///< prefix of the files that its processes record into
    std::string run_id;
    int rank = -1;  ///< that it is; -1: it starts the ranks of its node by itself, and is none
  };
  /// Throws Error{kRunFailed} when it cannot be executed; the message names it. Throws Error{kEnvironment}
  /// when it cannot be recorded: neither path fits LD_PRELOAD.
  explicit Program(const Options& options);
  ~Program();  ///< kills what is left of the process group
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Blocks until it has ended; its wait status.
  int wait();
  /// SIGTERM to the process group. From any thread.
  void terminate() noexcept;

 private:
  pid_t pid_ = -1;
  std::atomic<bool> ended_{false};
};

/// Where the shared object is that programs are started with. Throws Error{kEnvironment} when this build
/// lacks it.
std::string recording_library();

}  // namespace ddbench::launch
