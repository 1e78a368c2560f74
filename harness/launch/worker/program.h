#pragma once

#include <sys/types.h>

#include <optional>
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
    std::string python;  ///< folder that goes first into PYTHONPATH (probes/python), likewise; empty: none
    std::string window;  ///< window_for_program()
    int rank = -1;  ///< that it is; -1: it starts the ranks of its node by itself, and is none
  };
  /// Throws Error{kRunFailed} when it cannot be executed; the message names it. Throws Error{kEnvironment}
  /// when it cannot be recorded: neither path fits LD_PRELOAD.
  explicit Program(const Options& options);
  ~Program();  ///< kills what is left in its group
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Blocks until it has ended; its wait status. What it leaves in its group goes on: other ranks may still need it.
  int wait();
  /// Its wait status if it has ended, without blocking; else as wait(). Not beside wait().
  std::optional<int> poll();
  /// SIGTERM to the process group. From any thread.
  void terminate() noexcept;
  void kill() noexcept;  ///< SIGKILL, likewise

 private:
  /// Of the process and its group. It is reaped by the destructor, so that no other process or group gets the number before.
  pid_t pid_ = -1;
  std::optional<int> status_;  ///< once it has ended
};

/// Where the shared object is that programs are started with. Throws Error{kEnvironment} when this build
/// lacks it.
std::string recording_library();
/// Where the folder is that Python programs are started with; empty where this build lacks it.
std::string python_folder();

}  // namespace ddbench::launch
